/* SPDX-License-Identifier: MIT */
/*
 * inner.h - what the poller and the operations share of a ring
 *
 * user_data says in its lowest two bits whose completion it is. An operation is a pointer, so its are 0.
 */
#ifndef FIB_POLL_URING_INNER_H
#define FIB_POLL_URING_INNER_H

#include <liburing.h>

#include "base/atomic.h"
#include "os/spin.h"
#include "poll/ring.h"

enum { KIND_OP, KIND_WATCH, KIND_WAKE, KIND_NOTHING, KIND_MASK = 3 };

/* L under ->lock · T whoever takes completions out, one at a time */
struct fib_ring {
	struct io_uring uring; /* submission side L, completion side T */
	_Atomic uint32_t lock; /* held for one io_uring_enter at most */
	_Atomic uint32_t take; /* fib_ring_take() */
};

/* Set up what is in *ring. 0 or a negative errno, and nothing is left. */
int fib_ring_setup(struct fib_ring *ring);
void fib_ring_release(struct fib_ring *ring);

/* An entry to fill. Under the lock, at most 8 between two calls of submit. */
struct io_uring_sqe *fib_ring_entry(struct fib_ring *ring, uint64_t known);

/* Hand over what was filled. 0: all of it. A negative errno: the rest was taken back. Under the lock. */
int fib_ring_submit(struct fib_ring *ring);

/* The same for what must not fail: tries until the kernel has memory for it. Under the lock. */
void fib_ring_submit_surely(struct fib_ring *ring);

/* The kernel's word about op. True: it has ended, and was written to for the last time. */
bool fib_ring_answer(struct fib_ring_op *op, const struct io_uring_cqe *cqe);

/* Bring in what the kernel keeps for want of room. T. */
void fib_ring_refresh(struct fib_ring *ring);

/* Wait until there is something to take, or until the deadline (ns, INT64_MAX: none). 0, -ETIME, -EINTR or what
 * io_uring_enter(2) gives. T. */
int fib_ring_sleep(struct fib_ring *ring, int64_t deadline);

#endif
