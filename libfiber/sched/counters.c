/* SPDX-License-Identifier: MIT */
/*
 * counters.c - what a carrier has done so far, counted where it costs nothing
 *
 * A switch takes a few nanoseconds, and nobody may pay for being watched. So switches are not counted. But a carrier
 * counts down how many fibers may still run before it looks outside (`picks`), one for each that leaves. The rule: whoever
 * sets that number anew says how many turns were given by it, and who has it go down without a switch says that a
 * turn was not used; both are rare. Then as many fibers were left as turns were given, less those that are left, less
 * those not used.
 *
 * How long a fiber stood in line shows when it begins to run: the time at which it became runnable is in its record, and
 * is overwritten then. Most often the coarse clock has not moved meanwhile, and nothing is counted: it waited less than a
 * tick. The first count of the delays is what remains of the switches. So delays have the grain of that clock: each
 * is right to within a tick, and their sum over many is right, since who waits for a tenth of a tick sees it move once
 * in ten times.
 *
 * A reader looks while the carrier goes on. The numbers are written and read in such an order that it sees fewer switches
 * than there were, never more, but for a turn that is not used, which it may count for a moment. What it has
 * seen once it does not take back: to those who watch, a count that falls is a program that began anew.
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
	/* label: counters.given -- who sees them given sees them there. */
	fib_store_release(&c->counters.given, fib_load(&c->counters.given) + FIB_LOOK_EVERY - left);
}

void fib_counters_last(struct fib_carrier *c)
{
	c->counters.unused += c->picks - 1;
	/* label: counters.unused -- who sees that they are gone sees that nobody used them. */
	fib_fence_release();
	c->picks = 1;
}

/* Of what a yield counts only the carrier knows when it changes: what is read is a word that was there. */
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
	/* Who runs now has been counted when he was late, and has not been left. */
	if (ret->switches > late && ret->switches - late > m->prompt_seen)
		m->prompt_seen = ret->switches - late;
	ret->delays[0] = m->prompt_seen;
}
