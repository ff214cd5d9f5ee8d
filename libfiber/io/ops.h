/* SPDX-License-Identifier: MIT */
/* ops.h - the operations of a scheduler that are under way. See ops.c for the rule. */
#ifndef FIB_IO_OPS_H
#define FIB_IO_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/op.h>
#include <fiber/sync.h>

#include "base/list.h"
#include "poll/ring.h"
#include "sched/sched.h"

struct fib_ops;

/* I set before it begins · L under waiters.lock · O under the lock of its ops */
struct fiber_op {
	struct fib_ring_op base; /* the ring's */
	struct fib_list link;	 /* O */
	struct fib_ops *ops;	 /* I */
	struct fiber_wait_queue waiters;
	bool done;					 /* L */
	bool ending;					 /* O: nobody can let go of it any more */
	bool detached;					 /* O */
	void (*free_fn)(void *arg, int result);		 /* O */
	void *arg;					 /* O */
	_Alignas(8) unsigned char entry[FIB_RING_ENTRY]; /* I */
};

/* The operations of s; the first time they are made. 0 and *ret, or what opening a ring gives. */
int fib_ops_of(struct fib_sched *s, struct fib_ops **ret);

/* From here on op is the kernel's, unless the result is negative: that of fib_ring_begin(). */
int fib_ops_begin(struct fib_ops *o, struct fiber_op *op);

/* Ask the kernel to give up op, which has begun and belongs to somebody who awaits its end. */
void fib_ops_cancel(struct fiber_op *op);

/* The same for one that nobody awaits any more. True: it is ours, and free_fn(arg, result) is called, unless it is NULL, when it
 * has ended. False: it is about to end, and still the caller's. */
bool fib_ops_leave(struct fiber_op *op, void (*free_fn)(void *arg, int result), void *arg);

#endif
