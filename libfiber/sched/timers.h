/* SPDX-License-Identifier: MIT */
/*
 * timers.h - a carrier's deadlines, ordered in a heap
 */
#ifndef FIB_SCHED_TIMERS_H
#define FIB_SCHED_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

/* An entry of the heap. */
struct fib_timer_entry {
	int64_t deadline;
	uint32_t slot;
};

/* The fiber of an entry. */
struct fib_timer_slot {
	struct fiber *fiber;
	uint32_t armed; /* the parker's word that this deadline is for */
};

/* C its carrier only · A any thread, atomic · L under lock */
struct fib_timers {
	_Atomic uint32_t lock;
	uint32_t count;			/* L */
	uint32_t capacity;		/* L writes, C reads */
	uint32_t free_slot;		/* L: the first free slot; linked through `at` */
	struct fib_timer_entry *heap;	/* L; 4-ary, in `memory` */
	struct fib_timer_slot *slots;	/* L */
	uint32_t *at;			/* L: heap index of each slot */
	struct fib_timer_entry *memory; /* L */
	_Atomic int64_t nearest;	/* L writes, A reads; INT64_MAX: none */
};

void fib_timers_init(struct fib_timers *t);
void fib_timers_release(struct fib_timers *t);

/*
 * Time out the fiber's wait `armed` at deadline (ns). By the carrier that owns t, on behalf of the
 * fiber. Returns 0 or -ENOMEM.
 */
int fib_timers_add(struct fib_timers *t, struct fiber *fiber, uint32_t armed, int64_t deadline);

/*
 * Remove the fiber's entry from the heap that holds it, if any. By the fiber itself, on any
 * carrier; after this no timer touches its wait.
 */
void fib_timers_drop(struct fiber *fiber);

/* At most so many are removed at a time. */
#define FIB_TIMERS_BATCH 32u

/*
 * Claim at most n waits that are due at now, nearest first, and put their fibers, which the caller
 * must make runnable, into ret. Returns how many; 0: none is due any more. Entries of waits that
 * were already decided are dropped. Any carrier of the scheduler.
 */
unsigned fib_timers_expire(struct fib_timers *t, int64_t now, struct fiber **ret, unsigned n);

/*
 * Returns whether the nearest deadline is so long past that its carrier must be busy. Any thread.
 */
bool fib_timers_overdue(struct fib_timers *t, int64_t now);

#endif
