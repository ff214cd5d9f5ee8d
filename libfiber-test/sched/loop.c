/* SPDX-License-Identifier: MIT */
/*
 * loop.c - run fibers on the calling thread
 *
 * Every switch leads through here: no fiber is ever in a run queue, so a fiber that leaves finds
 * none to switch to and switches to its carrier's idle context, which is this loop. Outside a
 * schedule fibers run in the order in which they became runnable; within one the explorer chooses
 * (explore/explorer.h).
 */
#include "sched/loop.h"

#include "base/check.h"
#include "base/tls.h"
#include "explore/explorer.h"
#include "explore/stuck.h"
#include "os/pinned.h"
#include "os/virtual.h"
#include "sched/gather.h"
#include "sched/ready.h"
#include "sched/sched.h"

/* Nothing can run now: let time pass. False: nothing will ever happen. */
static bool pass_time(void)
{
	const int64_t nearest = fib_gather_nearest();

	if (nearest == INT64_MAX)
		return fib_gather_wait();
	fib_virtual_reach(nearest);
	return true;
}

static void run(struct fiber *fiber)
{
	struct fib_carrier *c = fiber->sched->carriers;

	fib_tls_set_carrier(c);
	c->picks = 1; /* the fiber looks for no other fiber when it leaves */
	fib_switch_in(c, fiber);
	if (c->departed)
		c->above.bury(c);
	c->above.tell_ended(c->sched);
	fib_tls_set_carrier(NULL);
}

_Noreturn void fib_loop_stuck(void)
{
	if (fib_explorer_on())
		fib_stuck();
	fib_die("no fiber can run, and a thread waits for one (libfiber-test)");
}

/* wait: of the thread; NULL: it waits for nothing else. */
static bool turn(const struct fib_pinned_sleeper *wait)
{
	for (fib_gather(); !fib_ready_count(); fib_gather()) {
		/* Time has reached its deadline, or its descriptor is ready. */
		if (wait && fib_pinned_over(wait))
			return true;
		if (!fib_ready_release() &&
		    !fib_ready_release_idle(fib_gather_nearest() != INT64_MAX) && !pass_time())
			return false;
	}
	run(fib_ready_take(fib_explorer_on() ? fib_explore_next() : 0));
	return true;
}

bool fib_loop_turn(void)
{
	return turn(NULL);
}

void fib_loop_wait(struct fib_pinned_sleeper *wait)
{
	fib_pinned_add(wait);
	while (!fib_pinned_over(wait))
		if (!turn(wait))
			fib_loop_stuck();
	fib_pinned_remove(wait);
}
