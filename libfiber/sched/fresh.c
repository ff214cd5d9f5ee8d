/* SPDX-License-Identifier: MIT */
/*
 * fresh.c - who begins next
 *
 * A fiber that has not begun has a record and a place in line, but no stack: it gets one when it begins, most
 * often the warm one that another fiber has just left. So a hundred thousand of them cost no more memory
 * than their records, as long as those that have begun get done.
 *
 * That is what the order is about. First in, first out is fair, and so it is noted at which place in the line of the
 * run queue somebody came: those in the queue and those that begin take turns as if they stood in one line. But
 * when fibers make fibers and wait for them, first in, first out begins all of a generation before it ends one, and
 * each of those that have begun holds a stack. So with more than FIB_FRESH_MANY waiting to begin the newest
 * begins when it is the oldest one's turn: a fiber's children are done before its siblings begin, and those in the
 * queue wait no longer for it. Now and then, once in a thousand, the oldest goes first all the same (`fair`), and no
 * one waits for ever; but what it begins in its turn waits beside what was begun before it, so it must not be often.
 * Thieves take the oldest, which have the most work behind them.
 *
 * Turns are kept apart from who takes them, as runs of turns at the same place. When there are more runs than
 * room the last two become one: somebody in the queue has his turn a little later.
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

/* -- turns: all under the lock -- */

void fib_fresh_new_run(struct fib_fresh *fresh, uint32_t place)
{
	if (fresh->runs == FIB_FRESH_RUNS) {
		fib_fresh_last_run(fresh)->n++;
		return;
	}
	fresh->runs++;
	*fib_fresh_last_run(fresh) = (struct fib_turns){place, 1};
	if (fresh->runs == 1)
		fib_store(&fresh->due, place);
}

/* The first one is over. */
static void take_turn(struct fib_fresh *fresh)
{
	struct fib_turns *first = &fresh->turns[fresh->first_run];

	fib_store(&fresh->count, fib_load(&fresh->count) - 1);
	if (--first->n)
		return;
	fresh->first_run = (fresh->first_run + 1) % FIB_FRESH_RUNS;
	fresh->runs--;
	fib_store(&fresh->due, fresh->turns[fresh->first_run].place);
}

bool fib_fresh_put_locked(struct fib_fresh *fresh, struct fib_runqueue *q, struct fiber *fiber)
{
	bool only;

	fib_spin_lock(&fresh->lock);
	only = fib_fresh_append(fresh, q, fiber);
	fib_spin_unlock(&fresh->lock);
	return only;
}

/* Under the lock; there are some. */
static struct fiber *take_oldest(struct fib_fresh *fresh)
{
	struct fiber *fiber = fresh->oldest;

	fresh->oldest = fiber->link;
	if (fresh->oldest)
		fresh->oldest->before = NULL;
	else
		fresh->newest = NULL;
	take_turn(fresh);
	return fiber;
}

/* Under the lock; there are some. */
static struct fiber *take_newest(struct fib_fresh *fresh)
{
	struct fiber *fiber = fresh->newest;

	fresh->newest = fiber->before;
	if (fresh->newest)
		fresh->newest->link = NULL;
	else
		fresh->oldest = NULL;
	take_turn(fresh);
	return fiber;
}

/* A fiber touches the first four cache lines of its record when it begins, and was made a while ago. */
static inline void prefetch(const struct fiber *fiber)
{
	unsigned i;

	for (i = 0; fiber && i < 4; i++)
		__builtin_prefetch((const char *)fiber + i * FIB_CACHE_LINE, 1);
}

struct fiber *fib_fresh_take(struct fib_fresh *fresh, bool fair)
{
	struct fiber *fiber = NULL;

	if (!fib_load(&fresh->count))
		return NULL;
	lock(fresh);
	if (fresh->oldest) {
		bool newest = !fair && fib_fresh_many(fresh);

		fiber = newest ? take_newest(fresh) : take_oldest(fresh);
		prefetch(newest ? fresh->newest : fresh->oldest);
	}
	unlock(fresh);
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
