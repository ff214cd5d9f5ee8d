/* SPDX-License-Identifier: MIT */
/*
 * counters.c - per-carrier counts that cost the switch nothing
 *
 * A switch takes a few nanoseconds, so switches are not counted one by one. But each carrier
 * already counts down how many fibers may run before it looks outside (`picks`): one for each fiber
 * that leaves. Two rare events are counted: `given` grows when `picks` is set again, `unused` grows
 * when `picks` went down without a switch. So switches = given - picks - unused.
 *
 * A fiber's delay in the queue is known when it starts to run: its record holds the time at which
 * it became runnable. Usually the coarse clock has not moved since, the fiber waited less than a
 * tick, and nothing is counted. delays[0] is the number of switches minus all counted delays. Each
 * delay is right to within a tick, and the sum over many is right: a fiber that waits a tenth of a
 * tick sees the clock move one time in ten.
 *
 * A reader looks while the carrier runs. The order of the reads and writes is such that it sees at
 * most as many switches as there were, except that an unused turn may be counted for a moment. The
 * reader never reports less than before: a monitoring tool takes a falling counter for a restarted
 * program.
 */
#include "sched/counters.h"

#include "sched/sched.h"

#define MS INT64_C(1000000)

void fib_counters_delay(struct fib_counters *counters, int64_t ns)
{
	const uint64_t ms = (uint64_t)((ns - 1) / MS);
	unsigned n = ms ? 64 - (unsigned)__builtin_clzll(ms) : 0;

	fib_counters_raise(&counters->delayed, (uint64_t)ns);
	if (n >= FIB_COUNTERS_DELAYS)
		n = FIB_COUNTERS_DELAYS - 1;
	if (n)
		fib_counters_raise(&counters->delays[n], 1);
}

void fib_counters_give(struct fib_carrier *c)
{
	const unsigned left = c->picks;

	c->picks = FIB_LOOK_EVERY;
	c->looked = fib_coarse_now();
	/*
	 * label: counters.given -- a reader that sees the new value of given counts the turns left
	 * in picks.
	 */
	fib_store_release(&c->counters.given, fib_load(&c->counters.given) + FIB_LOOK_EVERY - left);
}

void fib_counters_last(struct fib_carrier *c)
{
	c->counters.unused += c->picks - 1;
	/*
	 * label: counters.unused -- a reader that sees the new picks also sees the new value of
	 * unused.
	 */
	fib_fence_release();
	c->picks = 1;
}

bool fib_counters_late(const struct fib_carrier *c, int64_t now)
{
	return c->picks > 1 && now - c->looked >= FIB_LOOK_WITHIN;
}

/*
 * These two are written by the carrier without atomics. The reader gets a value that was there at
 * some time.
 */
fib_unwatched static unsigned read_picks(const struct fib_carrier *c)
{
	return *(const volatile unsigned *)&c->picks;
}

fib_unwatched static uint64_t read_unused(const struct fib_carrier *c)
{
	return *(const volatile uint64_t *)&c->counters.unused;
}

static uint64_t switches(struct fib_carrier *c)
{
	const uint64_t given = fib_load_acquire(&c->counters.given); /* pairs: counters.given */
	const uint64_t taken = given - read_picks(c);
	uint64_t *seen = &c->counters.switches_seen, n;

	fib_fence_acquire(); /* pairs: counters.unused */
	n = taken - read_unused(c);
	if ((int64_t)(n - *seen) > 0)
		*seen = n;
	return *seen;
}

void fib_counters_read(struct fib_carrier *c, struct fib_counts *ret)
{
	struct fib_counters *m = &c->counters;
	uint64_t late = 0;
	unsigned i;

	ret->switches = switches(c);
	ret->steals = fib_load(&m->steals);
	ret->wakeups = fib_load(&m->wakeups);
	ret->polls = fib_load(&m->polls);
	ret->timeouts = fib_load(&m->timeouts);
	ret->delayed = fib_load(&m->delayed);
	for (i = 1; i < FIB_COUNTERS_DELAYS; i++)
		late += ret->delays[i] = fib_load(&m->delays[i]);
	/* A running fiber has been counted if it was late, but has not been left yet. */
	if (ret->switches > late && ret->switches - late > m->prompt_seen)
		m->prompt_seen = ret->switches - late;
	ret->delays[0] = m->prompt_seen;
}
