/* SPDX-License-Identifier: MIT */
/*
 * fresh.h - a carrier's fibers that have not begun
 */
#ifndef FIB_SCHED_FRESH_H
#define FIB_SCHED_FRESH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"
#include "sched/runqueue.h"

/* So many that wait to begin, and the newest begins first (fresh.c). */
#define FIB_FRESH_MANY 1024u

/* How many runs of turns are told apart (fresh.c). */
#define FIB_FRESH_RUNS 64u

/* Turns to begin, n of them after the same fiber of the run queue. */
struct fib_turns {
	uint32_t place;
	uint32_t n;
};

/* L under lock · A any thread, atomic */
struct fib_fresh {
	_Atomic uint32_t lock;
	_Atomic uint32_t count;			/* L writes, A reads */
	_Atomic uint32_t due;			/* L writes, A reads: the place of the first turn */
	bool alone;				/* I: there are no thieves, and no lock is needed */
	struct fiber *oldest;			/* L */
	struct fiber *newest;			/* L */
	uint32_t first_run;			/* L */
	uint32_t runs;				/* L */
	struct fib_turns turns[FIB_FRESH_RUNS]; /* L: a ring, from first_run on */
};

/* Append fiber to the line in which q's fibers stand, too. Whether it is the only one now. Its carrier only. */
static inline bool fib_fresh_put(struct fib_fresh *fresh, struct fib_runqueue *q,
				 struct fiber *fiber);

/* Whether there are so many that the newest goes first. Its carrier only. */
static inline bool fib_fresh_many(struct fib_fresh *fresh)
{
	return fib_load(&fresh->count) > FIB_FRESH_MANY;
}

/* Whether there is one whose turn is before that of q's first. Its carrier only. */
static inline bool fib_fresh_due(struct fib_fresh *fresh, struct fib_runqueue *q)
{
	return fib_load(&fresh->count) &&
	       (int32_t)(fib_load(&fresh->due) - fib_load(&q->head)) <= 0;
}

/* Take the one that begins next: the oldest, or the newest while there are many and `fair` is false. NULL when
 * there is none. Its carrier only. */
struct fiber *fib_fresh_take(struct fib_fresh *fresh, bool fair);

/* Move some of victim's, the oldest, into fresh, which is empty, and return one of them; NULL when there were
 * none. q: that of the calling carrier, which owns fresh. */
struct fiber *fib_fresh_steal(struct fib_fresh *fresh, struct fib_runqueue *q,
			      struct fib_fresh *victim);

/* Any thread; a moment later it may be otherwise. */
static inline bool fib_fresh_empty(struct fib_fresh *fresh)
{
	return fib_load(&fresh->count) == 0;
}

/* -- what a spawn goes through, in line -- */

void fib_fresh_new_run(struct fib_fresh *fresh, uint32_t place);
bool fib_fresh_put_locked(struct fib_fresh *fresh, struct fib_runqueue *q, struct fiber *fiber);

/* There is one. */
static inline struct fib_turns *fib_fresh_last_run(struct fib_fresh *fresh)
{
	return &fresh->turns[(fresh->first_run + fresh->runs - 1) % FIB_FRESH_RUNS];
}

/* Under the lock. */
static inline bool fib_fresh_append(struct fib_fresh *fresh, struct fib_runqueue *q,
				    struct fiber *fiber)
{
	uint32_t count = fib_load(&fresh->count);
	uint32_t place = fib_load(&q->tail) + fib_load(&q->overflowing);

	fiber->before = fresh->newest;
	fiber->link = NULL;
	if (fresh->newest)
		fresh->newest->link = fiber;
	else
		fresh->oldest = fiber;
	fresh->newest = fiber;
	if (fresh->runs && fib_fresh_last_run(fresh)->place == place)
		fib_fresh_last_run(fresh)->n++;
	else
		fib_fresh_new_run(fresh, place);
	fib_store(&fresh->count, count + 1);
	return !count;
}

static inline bool fib_fresh_put(struct fib_fresh *fresh, struct fib_runqueue *q,
				 struct fiber *fiber)
{
	return fresh->alone ? fib_fresh_append(fresh, q, fiber)
			    : fib_fresh_put_locked(fresh, q, fiber);
}

#endif
