/* SPDX-License-Identifier: MIT */
/*
 * start_queue.h - a carrier's fibers that have not started
 */
#ifndef FIB_SCHED_START_QUEUE_H
#define FIB_SCHED_START_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"
#include "sched/runqueue.h"

/* With more fibers than this the newest starts first (start_queue.c). */
#define FIB_START_QUEUE_MANY 1024u

/* How many runs of turns are stored (start_queue.c). */
#define FIB_START_QUEUE_RUNS 64u

/* n turns to start a fiber, all after the same fiber of the run queue. */
struct fib_turns {
	uint32_t place;
	uint32_t n;
};

/* L under lock · A any thread, atomic */
struct fib_start_queue {
	_Atomic uint32_t lock;
	_Atomic uint32_t count; /* L writes, A reads */
	_Atomic uint32_t due;	/* L writes, A reads: the place of the first turn */
	bool alone;		/* I: there are no thieves, so no lock is needed */
	struct fiber *oldest;	/* L */
	struct fiber *newest;	/* L */
	uint32_t first_run;	/* L */
	uint32_t runs;		/* L */
	struct fib_turns turns[FIB_START_QUEUE_RUNS]; /* L: a ring, from first_run on */
};

/*
 * Append fiber, with its turn after q's present fibers. Returns whether it is the only one. Its
 * carrier only.
 */
static inline bool fib_start_queue_put(struct fib_start_queue *start_queue, struct fib_runqueue *q,
				       struct fiber *fiber);

/* Returns whether there are so many that the newest starts first. Its carrier only. */
static inline bool fib_start_queue_many(struct fib_start_queue *start_queue)
{
	return fib_load(&start_queue->count) > FIB_START_QUEUE_MANY;
}

/* Returns whether a fiber is to start before q's first runs. Its carrier only. */
static inline bool fib_start_queue_due(struct fib_start_queue *start_queue, struct fib_runqueue *q)
{
	return fib_load(&start_queue->count) &&
	       (int32_t)(fib_load(&start_queue->due) - fib_load(&q->head)) <= 0;
}

/*
 * Take the fiber that starts next: the oldest, or the newest if there are many and `fair` is false.
 * NULL when empty. Its carrier only.
 */
struct fiber *fib_start_queue_take(struct fib_start_queue *start_queue, bool fair);

/*
 * Move some of victim's oldest fibers into start_queue, which is empty, and return one more; NULL
 * when there are none. q and start_queue: the calling carrier's.
 */
struct fiber *fib_start_queue_steal(struct fib_start_queue *start_queue, struct fib_runqueue *q,
				    struct fib_start_queue *victim);

/* Any thread; the answer may be out of date. */
static inline bool fib_start_queue_empty(struct fib_start_queue *start_queue)
{
	return fib_load(&start_queue->count) == 0;
}

/* -- the path of a spawn, inline -- */

void fib_start_queue_new_run(struct fib_start_queue *start_queue, uint32_t place);
bool fib_start_queue_put_locked(struct fib_start_queue *start_queue, struct fib_runqueue *q,
				struct fiber *fiber);

/* There must be a run. */
static inline struct fib_turns *fib_start_queue_last_run(struct fib_start_queue *start_queue)
{
	return &start_queue->turns[(start_queue->first_run + start_queue->runs - 1) %
				   FIB_START_QUEUE_RUNS];
}

/* Under the lock. */
static inline bool fib_start_queue_append(struct fib_start_queue *start_queue,
					  struct fib_runqueue *q, struct fiber *fiber)
{
	uint32_t count = fib_load(&start_queue->count);
	uint32_t place = fib_load(&q->tail) + fib_load(&q->overflowing);

	fiber->before = start_queue->newest;
	fiber->link = NULL;
	if (start_queue->newest)
		start_queue->newest->link = fiber;
	else
		start_queue->oldest = fiber;
	start_queue->newest = fiber;
	if (start_queue->runs && fib_start_queue_last_run(start_queue)->place == place)
		fib_start_queue_last_run(start_queue)->n++;
	else
		fib_start_queue_new_run(start_queue, place);
	fib_store(&start_queue->count, count + 1);
	return !count;
}

static inline bool fib_start_queue_put(struct fib_start_queue *start_queue, struct fib_runqueue *q,
				       struct fiber *fiber)
{
	return start_queue->alone ? fib_start_queue_append(start_queue, q, fiber)
				  : fib_start_queue_put_locked(start_queue, q, fiber);
}

#endif
