/* SPDX-License-Identifier: MIT */
/*
 * ring.h - operations that the kernel performs on its own time
 *
 * A ring takes submission entries of io_uring(7) and gives out each one's result. It knows no fiber. Where it
 * is compiled without liburing, or the machine has no io_uring, opening one says so with an errno and nothing else here
 * can be called.
 */
#ifndef FIB_POLL_RING_H
#define FIB_POLL_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/atomic.h"

struct io_uring_sqe;
struct fib_ring;

/* Bytes of a submission entry. */
#define FIB_RING_ENTRY 64u

/* One operation. The ring's from fib_ring_begin() until it is given out as ended. */
struct fib_ring_op {
	int32_t result; /* count or negative errno, once it has ended */
	_Atomic uint32_t
		answered; /* the result is there; the kernel may not be through with the memory */
};

/* 0 and *ret; -ENOSYS, -EPERM where the machine has none, or forbids it; -ENOMEM, -EMFILE, -ENFILE. */
int fib_ring_open(struct fib_ring **ret);

/* Nothing may be under way whose memory is not the ring's. */
void fib_ring_close(struct fib_ring *ring);

/* poll(2) finds it readable as long as there is something to take. The ring's own. */
int fib_ring_descriptor(struct fib_ring *ring);

/*
 * Begin the operation that entry describes; its user_data is the ring's. Any thread, but one that ends takes what it
 * has begun with it: such an operation ends with -ECANCELED. 0: op is given out some time. A negative errno, -EINVAL for flags that tie it to
 * others: nothing was begun. What the kernel thinks of the entry comes as the result.
 */
int fib_ring_begin(struct fib_ring *ring, const struct io_uring_sqe *entry, struct fib_ring_op *op);

/* Ask for the end of op, which has begun; it is given out all the same, with whatever came of it, also when it has
 * been given out just now and op's memory is used by nobody any more. Any thread. */
void fib_ring_cancel(struct fib_ring *ring, const struct fib_ring_op *op);

/* Take out up to max operations that have ended, without waiting. How many. Any thread, for a ring that
 * is not a poller's; a poller gives them out itself. */
int fib_ring_take(struct fib_ring *ring, struct fib_ring_op **ended, int max);

/* Perform one operation in a ring of its own and block the thread until it has ended, or until the deadline has
 * passed and it was cancelled. Its result; -ETIMEDOUT; what opening a ring gives. */
int fib_ring_perform(const struct io_uring_sqe *entry, int64_t deadline);

/* -- entries that libfiber uses itself; what they point to is read while they are begun -- */

/* readv(2), or writev(2), at an offset (-1: the file's own, which is not locked meanwhile). */
void fib_ring_fill_move(struct io_uring_sqe *entry, int fd, const struct iovec *v, int count,
			bool writing, int64_t at);
/* open(2). It waits where open(2) waits. */
void fib_ring_fill_open(struct io_uring_sqe *entry, const char *path, int flags, mode_t mode);

#endif
