/* SPDX-License-Identifier: MIT */
/*
 * ready.c - put a fiber that became runnable into a queue
 *
 * It goes to the carrier that woke it: waking a sleeping CPU costs more than most fibers run, and
 * their shared data is in this carrier's cache. There the fiber woken last goes before the others
 * (front), and displaces the previous one to the end of the queue. A fiber that has not started has
 * its own queue (start_queue.c), a bound one goes to its carrier, and an idle one to its list
 * (idle_fibers.c). From a thread that is no carrier of the scheduler every fiber goes into the
 * inject queue. A sleeping carrier is notified if needed (idle.c).
 */
#include "sched/sched.h"

#include "core/registry.h"
#include "os/os.h"
#include "probe.h"
#include "sched/observer.h"

/* Queue a fiber that never is in a run queue, and wake a carrier for it. c: as in put(). */
static void put_apart(struct fib_sched *s, struct fib_carrier *c, struct fiber *fiber)
{
	struct fib_carrier *home = &s->carriers[fiber->carrier];
	bool bound = fiber->flags & FIBER_BOUND;

	if (fiber->flags & FIBER_IDLE)
		fib_idle_fibers_put(s, fiber);
	else
		fib_inbox_put(&home->inbox, fiber);
	if (!bound)
		fib_idle_notify(s);
	else if (!c || home != c || !c->current) /* in its idle hook c counts as asleep */
		fib_idle_wake(home);
}

/*
 * In the program's idle hook c counts as asleep and no carrier sets the coarse clock. Set it, so
 * that the fiber does not seem to have waited, or to be queued, since before the sleep.
 */
static fib_noinline void wake_clock(struct fib_carrier *c)
{
	bool polls;

	if (fib_idle_is_asleep(c, &polls))
		fib_observer_clock(c, fib_os_now());
}

/* Queue a fiber and wake a carrier if needed. c: the calling carrier of s, NULL from elsewhere. */
static fib_noinline void put(struct fib_sched *s, struct fib_carrier *c, struct fiber *fiber,
			     bool front)
{
	if (fiber->flags & FIB_APART) {
		put_apart(s, c, fiber);
		return;
	}
	if (!c) {
		fib_inbox_put(&s->inbox, fiber);
	} else if (front && !fib_load(&c->woken)) {
		/*
		 * Only c makes it non-NULL.
		 * label: idle.woken -- visible before the word is read.
		 */
		fib_swap_seq(&c->woken, fiber);
		if (fib_load(&s->notifies))
			fib_idle_notify_fenced(s);
		return;
	} else if (front) {
		struct fiber *before = fib_swap_woken(c, fiber);

		if (before)
			fib_runqueue_put(&c->queue, before);
	} else {
		fib_runqueue_put(&c->queue, fiber);
	}
	if (!c || fib_load(&s->notifies))
		fib_idle_notify(s);
}

/* From a thread that is no carrier of s. */
static fib_noinline void ready_from_outside(struct fib_sched *s, struct fiber *fiber)
{
	struct fiber *const nobody = NULL;

	fib_probe2(wake, fiber->id, nobody);
	/*
	 * After the put the fiber may run and exit, and s may be finished: only its own carriers
	 * would delay that. So the thread that frees s waits for this counter.
	 */
	fib_add_relaxed(&s->visitors, 1);
	if (fib_unlikely(fib_load(&s->recording) != NULL))
		fib_recorder_woke(s, fiber);
	/* While every carrier sleeps none of them sets the coarse clock. */
	fib_coarse_set(fib_os_now());
	fib_show_runnable(fiber, fib_coarse_now());
	put(s, NULL, fiber, false);
	/* label: sched.visit -- the last access to s. */
	fib_sub(&s->visitors, 1);
}

void fib_ready(struct fiber *fiber, bool front)
{
	struct fib_carrier *c = fib_carrier_self();

	if (fib_unlikely(!c || c->sched != fiber->sched)) {
		ready_from_outside(fiber->sched, fiber);
		return;
	}
	if (fib_unlikely(!c->current && fib_load(&c->sched->notifies)))
		wake_clock(c);
	if (fib_records(c))
		fib_recorder_woke(c->sched, fiber);
	fib_show_runnable(fiber, fib_coarse_now());
	fib_probe2(wake, fiber->id, c->current);
	/* Usually it is the only one, and no carrier needs a notification. */
	if (fib_likely(front && !fib_load(&c->woken) && !(fiber->flags & FIB_APART) &&
		       !fib_load(&c->sched->notifies)))
		fib_store(&c->woken, fiber);
	else if (fib_likely(!front && c->queue.alone && !(fiber->flags & FIB_APART) &&
			    !fib_load(&c->sched->notifies)))
		fib_runqueue_put(&c->queue, fiber);
	else
		put(c->sched, c, fiber, front);
}

void fib_ready_new(struct fiber *fiber)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fib_sched *s = fiber->sched;

	if (!c || c->sched != s || (fiber->flags & FIB_APART)) {
		fib_ready(fiber, false);
		return;
	}
	/* It was created just now. */
	if (fib_unlikely(!c->current)) {
		wake_clock(c);
		fib_bear(fiber, fib_coarse_now());
	}
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNABLE);
	fib_put_new(s, c, fiber);
}
