/* SPDX-License-Identifier: MIT */
/*
 * timers.c - a 4-ary heap with the index kept in the fiber
 *
 * The deadline stands in the heap's own array, so that sifting touches no fiber but to tell it its new
 * index; four ways, because a heap is slow by its cache misses (LaMarca and Ladner, "The Influence of Caches on
 * the Performance of Heaps", 1996). A fiber that is woken otherwise takes itself out at once: a server that gives every read
 * a deadline would else drag a tail of dead entries.
 *
 * Only the owning carrier inserts. A fiber that has migrated removes itself from afar, and when the
 * owner computes or blocks others wake what is overdue, so the heap has a lock. fiber->timers says which
 * heap, and is written under that heap's lock; only the fiber itself goes from NULL to a heap, so it may
 * look at it without the lock.
 */
#include "sched/timers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/spin.h"

#define WAYS	4u
#define OVERDUE INT64_C(2000000) /* ns; two ticks */

void fib_timers_init(struct fib_timers *t)
{
	memset(t, 0, sizeof *t);
	fib_store(&t->nearest, INT64_MAX);
}

void fib_timers_release(struct fib_timers *t)
{
	free(t->heap);
	t->heap = NULL;
}

static void place(struct fib_timers *t, uint32_t i, struct fib_timer_entry e)
{
	t->heap[i] = e;
	e.fiber->timer_index = i;
}

static void sift_up(struct fib_timers *t, uint32_t i, struct fib_timer_entry e)
{
	while (i) {
		uint32_t above = (i - 1) / WAYS;

		if (t->heap[above].deadline <= e.deadline)
			break;
		place(t, i, t->heap[above]);
		i = above;
	}
	place(t, i, e);
}

static void sift_down(struct fib_timers *t, uint32_t i, struct fib_timer_entry e)
{
	for (;;) {
		uint32_t child = i * WAYS + 1, least = child, end = child + WAYS;

		if (child >= t->count)
			break;
		if (end > t->count)
			end = t->count;
		for (; child < end; child++)
			if (t->heap[child].deadline < t->heap[least].deadline)
				least = child;
		if (t->heap[least].deadline >= e.deadline)
			break;
		place(t, i, t->heap[least]);
		i = least;
	}
	place(t, i, e);
}

static void publish_nearest(struct fib_timers *t)
{
	fib_store(&t->nearest, t->count ? t->heap[0].deadline : INT64_MAX);
}

/* Under the lock. */
static void take_out(struct fib_timers *t, uint32_t i)
{
	struct fib_timer_entry last;

	fib_publish(&t->heap[i].fiber->timers, NULL);
	last = t->heap[--t->count];
	if (i < t->count) {
		if (i && last.deadline < t->heap[(i - 1) / WAYS].deadline)
			sift_up(t, i, last);
		else
			sift_down(t, i, last);
	}
	publish_nearest(t);
}

/* Allocates outside the lock: only this carrier inserts, so nobody else needs the room meanwhile. */
static int grow(struct fib_timers *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : 64;
	struct fib_timer_entry *heap = malloc(capacity * sizeof *heap), *old;

	if (!heap)
		return -ENOMEM;
	fib_spin_lock(&t->lock);
	if (t->count)
		memcpy(heap, t->heap, t->count * sizeof *heap);
	old = t->heap;
	t->heap = heap;
	t->capacity = capacity;
	fib_spin_unlock(&t->lock);
	free(old);
	return 0;
}

int fib_timers_add(struct fib_timers *t, struct fiber *fiber, uint32_t armed, int64_t deadline)
{
	struct fib_timer_entry e = {deadline, fiber, armed};

	fib_spin_lock(&t->lock);
	while (t->count == t->capacity) {
		int rc;

		fib_spin_unlock(&t->lock);
		rc = grow(t);
		if (rc < 0)
			return rc;
		fib_spin_lock(&t->lock);
	}
	fib_publish(&fiber->timers, t);
	t->count++;
	sift_up(t, t->count - 1, e);
	publish_nearest(t);
	fib_spin_unlock(&t->lock);
	return 0;
}

void fib_timers_drop(struct fiber *fiber)
{
	struct fib_timers *t = fib_observe(&fiber->timers);

	if (!t)
		return;
	fib_spin_lock(&t->lock);
	if (fiber->timers)
		take_out(t, fiber->timer_index);
	fib_spin_unlock(&t->lock);
}

struct fiber *fib_timers_expire(struct fib_timers *t, int64_t now)
{
	struct fiber *found = NULL;

	if (fib_load(&t->nearest) > now)
		return NULL;
	fib_spin_lock(&t->lock);
	while (!found && t->count && t->heap[0].deadline <= now) {
		struct fib_timer_entry e = t->heap[0];

		take_out(t, 0);
		if (fib_parker_claim(&e.fiber->parker, e.armed, FIB_OUTCOME_TIMED_OUT))
			found = e.fiber;
	}
	fib_spin_unlock(&t->lock);
	return found;
}

bool fib_timers_overdue(struct fib_timers *t, int64_t now)
{
	int64_t nearest = fib_load(&t->nearest);

	return nearest < now && now - nearest > OVERDUE;
}
