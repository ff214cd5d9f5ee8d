/* SPDX-License-Identifier: MIT */
/* op.h - ring operations of the program and of the library: the interface to the runtime */
#ifndef FIB_IO_OP_H
#define FIB_IO_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/op.h>

#include "sched/sched.h"

/* The token of a ring that is not the poller's. It is no valid descriptor number. */
#define FIB_OP_RING UINT64_C(0xffffffff)

/* Handle a completion that the poller reported without events. On a carrier. */
void fib_op_ended(uint64_t token);

/* Handle completions of the calling carrier's scheduler, if it has a ring of its own. */
void fib_op_reap(void);

/*
 * Cancel all operations in progress and wait for their ends, when s has no fibers left. From a
 * fiber of another runtime, or a thread. 0, -ETIMEDOUT, -ECANCELED; may be called again.
 */
int fib_op_finish(struct fib_sched *s, int64_t deadline);

/* After the carriers of s have exited and fib_op_finish() returned 0: release the rest. */
void fib_op_release(struct fib_sched *s);

/* Whether the caller is a fiber that is not pinned, and its scheduler's poller is a ring. */
bool fib_op_is_at_hand(void);

/*
 * fiber_op_await() without deadline or cancellation, for an operation that must complete. Not for
 * pinned fibers.
 */
int fib_op_await_uncancellable(struct fiber_op *op);

/*
 * fiber_op_await() that does not wait for the end of a cancelled op. op must not use the caller's
 * memory. If the wait ends early, op is cancelled, *ret_left is true, and free_fn(arg, result) is
 * called at its end, as after fiber_op_detach(). Otherwise free_fn is not called. Not for pinned
 * fibers.
 */
int fib_op_await_or_leave(struct fiber_op *op, int64_t deadline,
			  void (*free_fn)(void *arg, int result), void *arg, bool *ret_left);

#endif
