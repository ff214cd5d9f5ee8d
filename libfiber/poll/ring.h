/* SPDX-License-Identifier: MIT */
/*
 * ring.h - asynchronous operations of the kernel
 *
 * A ring takes submission entries of io_uring(7) and returns the result of each. It knows no
 * fibers. If the library is compiled without liburing, or the machine has no io_uring, opening a
 * ring fails with an errno, and no other function here can be called.
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

/* One operation. It belongs to the ring from fib_ring_begin() until it is reported as ended. */
struct fib_ring_op {
	int32_t result;		   /* count or negative errno, once it has ended */
	_Atomic uint32_t answered; /* result is set; the kernel may still use the memory */
};

/*
 * 0 and *ret; -ENOSYS, -EPERM: the machine has no io_uring, or forbids it; -ENOMEM, -EMFILE,
 * -ENFILE.
 */
int fib_ring_open(struct fib_ring **ret);

/* No operation may be in progress that uses memory outside the ring. */
void fib_ring_close(struct fib_ring *ring);

/* A descriptor that is readable while there is something to take. It belongs to the ring. */
int fib_ring_descriptor(struct fib_ring *ring);

/*
 * Start the operation in entry; the ring sets its user_data. Any thread, but a thread that exits
 * ends the operations it has started with -ECANCELED. 0: op will be reported as ended. A negative
 * errno: nothing was started; -EINVAL: the flags link the entry to others. Errors that the kernel
 * finds in the entry come as its result.
 */
int fib_ring_begin(struct fib_ring *ring, const struct io_uring_sqe *entry, struct fib_ring_op *op);

/*
 * Ask the kernel to cancel op, which has started. It is still reported, with its result. Allowed
 * even if op has just been reported and its memory is not used any more. Any thread.
 */
void fib_ring_cancel(struct fib_ring *ring, const struct fib_ring_op *op);

/*
 * Take up to max ended operations without waiting. Returns their number. Any thread. Only for a
 * ring that is not a poller's; a poller reports them itself.
 */
int fib_ring_take(struct fib_ring *ring, struct fib_ring_op **ended, int max);

/*
 * Do one operation in a ring of its own. Blocks the thread until the operation has ended, or the
 * deadline has passed and it was cancelled. Returns its result; -ETIMEDOUT; or an error of opening
 * a ring.
 */
int fib_ring_perform(const struct io_uring_sqe *entry, int64_t deadline);

/* -- entries that libfiber itself uses; the kernel reads what they point to when they start -- */

/*
 * readv(2), or writev(2), at an offset (-1: the file's own, which is not locked during the
 * operation).
 */
void fib_ring_fill_move(struct io_uring_sqe *entry, int fd, const struct iovec *v, int count,
			bool writing, int64_t at);
/* open(2). It waits where open(2) waits. */
void fib_ring_fill_open(struct io_uring_sqe *entry, const char *path, int flags, mode_t mode);

#endif
