/* SPDX-License-Identifier: MIT */
/* op.h - operations of the program's own, as the runtime sees them, and of ours. */
#ifndef FIB_IO_OP_H
#define FIB_IO_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/op.h>

#include "sched/sched.h"

/* The token of a ring that is not the poller's: no descriptor has this number. */
#define FIB_OP_RING UINT64_C(0xffffffff)

/* What a poller gave out with no events. On a carrier. */
void fib_op_ended(uint64_t token);

/* The calling carrier's scheduler has a ring of its own, and something is in there. */
void fib_op_reap(void);

/* No fiber of s is left: cancel what is under way and wait for its end. From a fiber of another runtime, or a thread.
 * 0, -ETIMEDOUT, -ECANCELED; may be called again. */
int fib_op_finish(struct fib_sched *s, int64_t deadline);

/* After the carriers of s have ended, and fib_op_finish() gave 0: release what finish left. */
void fib_op_release(struct fib_sched *s);

/* Whether the caller is a fiber that is not pinned, and its scheduler's poller is a ring. */
bool fib_op_is_at_hand(void);

/* fiber_op_await() for what is not to be given up: no deadline, and no cancellation ends it. By a fiber that is not pinned. */
int fib_op_await_uncancellable(struct fiber_op *op);

/*
 * fiber_op_await() without the wait for the end of what was given up: op, which must not work on the caller's memory, is
 * cancelled, and free_fn(arg, result) is called when it has ended, as after fiber_op_detach(). Then *ret_left is true; else
 * free_fn is not called. By a fiber that is not pinned.
 */
int fib_op_await_or_leave(struct fiber_op *op, int64_t deadline,
			  void (*free_fn)(void *arg, int result), void *arg, bool *ret_left);

#endif
