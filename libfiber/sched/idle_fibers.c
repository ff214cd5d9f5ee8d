/* SPDX-License-Identifier: MIT */
/*
 * idle_fibers.c - fibers that run only when a carrier would otherwise sleep
 *
 * A fiber with FIBER_IDLE is never in a run queue, where it would be scheduled among the others and
 * could be stolen. It waits in a separate list: the carrier's if the fiber is bound, else the
 * scheduler's. A carrier takes it when it has looked everywhere and would sleep next.
 *
 * The rule: other work comes first, at the idle fiber's next yield or wait. So it runs like the
 * last fiber before a look outside: when it leaves, the carrier enters its idle context. There the
 * order is: timers, descriptors, submitted fibers, the carrier's own queue, stealing, and last the
 * idle fiber that has waited longest. This is not the one that has just yielded if there is
 * another.
 *
 * For the rest of the scheduler the list is work like any other (fib_work_visible): a publisher
 * here reads the idle word afterwards, and a carrier that is about to sleep looks here once more
 * (pairs: idle.gap).
 */
#include "sched/idle_fibers.h"

#include "sched/sched.h"

void fib_idle_fibers_put(struct fib_sched *s, struct fiber *fiber)
{
	bool bound = fiber->flags & FIBER_BOUND;

	fib_inbox_put(bound ? &s->carriers[fiber->carrier].idle_fibers : &s->idle_fibers, fiber);
}

struct fiber *fib_idle_fibers_take(struct fib_carrier *c)
{
	struct fib_inbox *first = c->idle_fibers_turn ? &c->idle_fibers : &c->sched->idle_fibers;
	struct fib_inbox *second = c->idle_fibers_turn ? &c->sched->idle_fibers : &c->idle_fibers;
	struct fiber *fiber = fib_inbox_take(first);

	/* The two lists alternate, whatever their lengths. */
	c->idle_fibers_turn = !c->idle_fibers_turn;
	if (!fiber)
		fiber = fib_inbox_take(second);
	if (fiber)
		fib_counters_last(c);
	return fiber;
}

bool fib_idle_fibers_visible(struct fib_sched *s, struct fib_carrier *c)
{
	return !fib_inbox_empty(&s->idle_fibers) || (c && !fib_inbox_empty(&c->idle_fibers));
}
