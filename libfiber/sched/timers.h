/* SPDX-License-Identifier: MIT */
/*
 * timers.h - a carrier's deadlines, the nearest first
 */
#ifndef FIB_SCHED_TIMERS_H
#define FIB_SCHED_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

/* A place in the heap. */
struct fib_timer_entry {
	int64_t deadline;
	uint32_t slot;
};

/* Whom it is for. */
struct fib_timer_slot {
	struct fiber *fiber;
	uint32_t armed; /* the parker's word this deadline belongs to */
};

/* C its carrier only · A any thread, atomic · L under lock */
struct fib_timers {
	_Atomic uint32_t lock;
	uint32_t count;			/* L */
	uint32_t capacity;		/* L writes, C reads */
	uint32_t free_slot;		/* L: the first one, linked through `at` */
	struct fib_timer_entry *heap;	/* L; 4-ary, in `memory` */
	struct fib_timer_slot *slots;	/* L */
	uint32_t *at;			/* L: by slot: where it stands in the heap */
	struct fib_timer_entry *memory; /* L */
	_Atomic int64_t nearest;	/* L writes, A reads; INT64_MAX: none */
};

void fib_timers_init(struct fib_timers *t);
void fib_timers_release(struct fib_timers *t);

/* Wake the fiber's wait `armed` with a time-out at deadline (ns). By the carrier that owns t, in the
 * fiber's name. 0, -ENOMEM. */
int fib_timers_add(struct fib_timers *t, struct fiber *fiber, uint32_t armed, int64_t deadline);

/* Take the fiber out of whatever heap holds it. By the fiber itself, on any carrier; after this no
 * timer touches its wait. */
void fib_timers_drop(struct fiber *fiber);

/* So many are woken at a time at most. */
#define FIB_TIMERS_BATCH 32u

/* Claim waits that are due at now, the nearest first, at most n, and put their fibers, which must be made
 * runnable, into ret. How many: 0 when none is due any more. Waits that were woken otherwise meanwhile are
 * dropped on the way. Any carrier of the scheduler. */
unsigned fib_timers_expire(struct fib_timers *t, int64_t now, struct fiber **ret, unsigned n);

/* Whether the nearest deadline passed so long before now that its carrier must be held up. Any thread. */
bool fib_timers_overdue(struct fib_timers *t, int64_t now);

#endif
