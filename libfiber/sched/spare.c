/* SPDX-License-Identifier: MIT */
/*
 * spare.c - fibers for the time that nobody else wants
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
#include "sched/spare.h"

#include "sched/sched.h"

void fib_spare_put(struct fib_sched *s, struct fiber *fiber)
{
	bool bound = fiber->flags & FIBER_BOUND;

	fib_inject_put(bound ? &s->carriers[fiber->carrier].spare : &s->spare, fiber);
}

struct fiber *fib_spare_take(struct fib_carrier *c)
{
	struct fib_inject *first = c->spare_turn ? &c->spare : &c->sched->spare;
	struct fib_inject *second = c->spare_turn ? &c->sched->spare : &c->spare;
	struct fiber *fiber = fib_inject_take(first);

	/* Bound ones and the others take turns, however many there are of each. */
	c->spare_turn = !c->spare_turn;
	if (!fiber)
		fiber = fib_inject_take(second);
	if (fiber)
		fib_meter_last(c);
	return fiber;
}

bool fib_spare_visible(struct fib_sched *s, struct fib_carrier *c)
{
	return !fib_inject_empty(&s->spare) || (c && !fib_inject_empty(&c->spare));
}
