/* SPDX-License-Identifier: MIT */
/* ops.h - the operations of a scheduler that are in progress. See ops.c for the rule. */
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

/* I set before it starts · L under waiters.lock · O under the lock of its ops */
struct fiber_op {
	struct fib_ring_op base; /* the ring's */
	struct fib_list link;	 /* O */
	struct fib_ops *ops;	 /* I */
	struct fiber_wait_queue waiters;
	bool done;				/* L */
	bool ending;				/* O: its end is handled: too late to leave it */
	bool detached;				/* O */
	void (*free_fn)(void *arg, int result); /* O */
	void *arg;				/* O */
	_Alignas(8) unsigned char entry[FIB_RING_ENTRY]; /* I */
};

/* Find or make the operations of s. Returns 0 and *ret, or the error of opening a ring. */
int fib_ops_of(struct fib_sched *s, struct fib_ops **ret);

/*
 * Lock the operations of s, if it has any (_try: false if they are locked), and call fn with the memory of
 * each. It has the addresses of the program's buffers, and of what a detached operation is freed with.
 */
void fib_ops_lock(struct fib_sched *s);
bool fib_ops_try(struct fib_sched *s);
void fib_ops_unlock(struct fib_sched *s);
int fib_ops_each(struct fib_sched *s, int (*fn)(const void *low, const void *high, void *arg),
		 void *arg);

/*
 * Start op. From here on op belongs to the kernel, unless this fails with an error of
 * fib_ring_begin().
 */
int fib_ops_begin(struct fib_ops *o, struct fiber_op *op);

/* Ask the kernel to cancel op. op has started, and a caller waits for its end. */
void fib_ops_cancel(struct fiber_op *op);

/*
 * Cancel op and stop waiting for it. True: op now belongs to the library, and free_fn(arg, result),
 * if not NULL, is called when it has ended. False: it is about to end and still belongs to the
 * caller.
 */
bool fib_ops_leave(struct fiber_op *op, void (*free_fn)(void *arg, int result), void *arg);

#endif
