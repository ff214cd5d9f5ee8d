/* SPDX-License-Identifier: MIT */
/*
 * inner.h - the part of a ring that the poller and the operations share
 *
 * The lowest two bits of user_data give the kind of completion. An operation is a pointer, so its
 * bits are 0.
 */
#ifndef FIB_POLL_URING_INNER_H
#define FIB_POLL_URING_INNER_H

#include <liburing.h>

#include "base/atomic.h"
#include "os/spin.h"
#include "poll/ring.h"

enum { KIND_OP, KIND_WATCH, KIND_WAKE, KIND_NOTHING, KIND_MASK = 3 };

/* L under ->lock · T the thread that takes completions, one at a time */
struct fib_ring {
	struct io_uring uring; /* submission side L, completion side T */
	_Atomic uint32_t lock; /* held for at most one io_uring_enter */
	_Atomic uint32_t take; /* fib_ring_take() */
};

/* Set up *ring. 0 or a negative errno, and nothing is left allocated. */
int fib_ring_setup(struct fib_ring *ring);
void fib_ring_release(struct fib_ring *ring);

/* An entry to fill in. Under the lock, at most 8 between two calls of submit. */
struct io_uring_sqe *fib_ring_entry(struct fib_ring *ring, uint64_t known);

/*
 * Submit the entries. 0: all were submitted. A negative errno: the rest was taken back. Under the
 * lock.
 */
int fib_ring_submit(struct fib_ring *ring);

/* The same for entries that must not fail: retries until the kernel has memory. Under the lock. */
void fib_ring_submit_surely(struct fib_ring *ring);

/* Handle a completion of op. True: op has ended, and the kernel does not use it any more. */
bool fib_ring_answer(struct fib_ring_op *op, const struct io_uring_cqe *cqe);

/* Fetch completions that the kernel keeps because the queue was full. T. */
void fib_ring_refresh(struct fib_ring *ring);

/*
 * Wait until there is something to take, or until the deadline (ns, INT64_MAX: none). 0, -ETIME,
 * -EINTR or an error of io_uring_enter(2). T.
 */
int fib_ring_sleep(struct fib_ring *ring, int64_t deadline);

#endif
