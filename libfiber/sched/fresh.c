/* SPDX-License-Identifier: MIT */
/*
 * fresh.c - who begins next
 *
 * A fiber that has not begun has a record and a place in line, but no stack: it gets one when it begins, most
 * often the warm one that another fiber has just left. So a hundred thousand of them cost no more memory
 * than their records, as long as those that have begun get done.
 *
 * That is what the order is about. First in, first out is fair, and so the place of each in the line of the run
 * queue is noted: of the two the older one goes first. But when fibers make fibers and wait for them, first
 * in, first out begins all of a generation before it ends one, and each of those that have begun holds a stack.
 * So with more than FIB_FRESH_MANY waiting to begin the newest goes first: a fiber's children are done
 * before its siblings begin. Now and then the oldest goes first all the same (`fair`), and no one waits for
 * ever. Thieves take the oldest, which have the most work behind them.
 *
 * (Depth first for the owner, oldest first for the thief: Blumofe and Leiserson, "Scheduling Multithreaded
 * Computations by Work Stealing", 1999.)
 */
#include "sched/fresh.h"

#include "os/spin.h"

#define MOST_AT_ONCE 64u

static void lock(struct fib_fresh *fresh)
{
	if (!fresh->alone)
		fib_spin_lock(&fresh->lock);
}

static void unlock(struct fib_fresh *fresh)
{
	if (!fresh->alone)
		fib_spin_unlock(&fresh->lock);
}

static void count(struct fib_fresh *fresh, uint32_t n)
{
	fib_store(&fresh->count, n);
	if (fresh->oldest)
		fib_store(&fresh->due, (uint32_t)fresh->oldest->fresh.place);
}

void fib_fresh_put(struct fib_fresh *fresh, struct fib_runqueue *q, struct fiber *fiber)
{
	lock(fresh);
	fiber->fresh.place = fib_load(&q->tail) + fib_load(&q->overflowing);
	fiber->fresh.before = fresh->newest;
	fiber->link = NULL;
	if (fresh->newest)
		fresh->newest->link = fiber;
	else
		fresh->oldest = fiber;
	fresh->newest = fiber;
	count(fresh, fib_load(&fresh->count) + 1);
	unlock(fresh);
}

/* Under the lock; there are some. */
static struct fiber *take_oldest(struct fib_fresh *fresh)
{
	struct fiber *fiber = fresh->oldest;

	fresh->oldest = fiber->link;
	if (fresh->oldest)
		fresh->oldest->fresh.before = NULL;
	else
		fresh->newest = NULL;
	count(fresh, fib_load(&fresh->count) - 1);
	return fiber;
}

/* Under the lock; there are some. */
static struct fiber *take_newest(struct fib_fresh *fresh)
{
	struct fiber *fiber = fresh->newest;

	fresh->newest = fiber->fresh.before;
	if (fresh->newest)
		fresh->newest->link = NULL;
	else
		fresh->oldest = NULL;
	count(fresh, fib_load(&fresh->count) - 1);
	return fiber;
}

struct fiber *fib_fresh_take(struct fib_fresh *fresh, bool fair)
{
	struct fiber *fiber = NULL;

	if (!fib_load(&fresh->count))
		return NULL;
	lock(fresh);
	if (fresh->oldest)
		fiber = fair || fib_load(&fresh->count) <= FIB_FRESH_MANY ? take_oldest(fresh)
									  : take_newest(fresh);
	unlock(fresh);
	if (fiber)
		__builtin_prefetch(fiber->link, 1);
	return fiber;
}

struct fiber *fib_fresh_steal(struct fib_fresh *fresh, struct fib_runqueue *q,
			      struct fib_fresh *victim)
{
	struct fiber *first, *last, *next;
	uint32_t n, i;

	if (!fib_load(&victim->count))
		return NULL;
	fib_spin_lock(&victim->lock);
	n = fib_load(&victim->count);
	n -= n / 2;
	if (n > MOST_AT_ONCE)
		n = MOST_AT_ONCE;
	first = last = n ? take_oldest(victim) : NULL;
	for (i = 1; i < n; i++) {
		last->link = take_oldest(victim);
		last = last->link;
	}
	if (last)
		last->link = NULL;
	fib_spin_unlock(&victim->lock);
	if (!first)
		return NULL;
	for (next = first->link; next; next = last) {
		last = next->link;
		fib_fresh_put(fresh, q, next);
	}
	return first;
}
