/* SPDX-License-Identifier: MIT */
/*
 * runqueue.h - a carrier's runnable fibers, in the order in which they became so
 */
#ifndef FIB_SCHED_RUNQUEUE_H
#define FIB_SCHED_RUNQUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "core/record.h"

#define FIB_RING 256u

/* C its carrier only · A any thread, atomic · L under lock */
struct fib_runqueue {
	_Atomic uint32_t head fib_aligned(FIB_CACHE_LINE); /* A: runqueue.take */
	_Atomic uint32_t tail fib_aligned(FIB_CACHE_LINE); /* C, A reads: runqueue.publish */
	_Atomic uint32_t lock;
	_Atomic uint32_t overflowing; /* L writes, A reads: fibers in the overflow list */
	struct fiber *overflow_first; /* L */
	struct fiber *overflow_last;  /* L */
	struct fiber *_Atomic slots[FIB_RING];
};

/* Append. Its carrier only. */
void fib_runqueue_put(struct fib_runqueue *q, struct fiber *fiber);

/* Take the oldest, NULL when empty. Its carrier only. */
struct fiber *fib_runqueue_take(struct fib_runqueue *q);

/* Move about half of victim's fibers into q, which is empty, and return one of them to run; NULL when
 * there was nothing. By the carrier of q. */
struct fiber *fib_runqueue_steal(struct fib_runqueue *q, struct fib_runqueue *victim);

/* Whether anything is there. Any thread; a moment later it may be otherwise. */
bool fib_runqueue_empty(struct fib_runqueue *q);

#endif
