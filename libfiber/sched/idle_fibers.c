/* SPDX-License-Identifier: MIT */
/*
 * idle_fibers.c - fibers for the time that nobody else wants
 *
 * A fiber with FIBER_IDLE never stands in a run queue, where it would get its turn among the others and be
 * stolen like them. It waits apart, in a list of its scheduler's, or of its carrier's when it is bound to one, and a
 * carrier takes it when it has looked everywhere and would sleep next.
 *
 * The rule: whatever becomes runnable meanwhile comes first, at the fiber's next yield or wait. So it runs
 * as if it were the last fiber before a look at the outside: when it leaves, the carrier goes to its idle
 * context and finds there, in this order, timers, descriptors, what others submitted, its own queue, what can be
 * stolen, and then the idle fiber that has waited for the longest, which is never the one that has just yielded
 * as long as there is another.
 *
 * To the rest of the scheduler the list is work like any other (fib_work_visible): who publishes here reads the
 * idle word after, and who lies down looks here once more (pairs: idle.gap).
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

	/* Bound ones and the others take turns, however many there are of each. */
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
