/* SPDX-License-Identifier: MIT */
/*
 * switch.c - from one fiber to the next, and what must be done in between
 *
 * A fiber that leaves cannot finish leaving: only when its registers are saved may others see it as
 * suspended, run it, or take its stack. So it notes what is to be done (enum fib_after), and whoever
 * runs next on this carrier does that first, in arrive().
 *
 * The sequence number carries it to everybody else: odd before the fiber's stack can change, even once
 * its registers are saved. A carrier that takes a fiber with an odd number off a queue knows that it is
 * still being left elsewhere and waits for that in its idle context, not on a fiber's stack: two
 * fibers waiting for each other to be left would wait for ever.
 */
#include "sched/sched.h"

#include "base/check.h"
#include "core/registry.h"
#include "os/os.h"

#define STREAK_MAX 16u

/* The state of a fiber as the registry shows it, and since when. By whoever has the fiber. */
static void show(struct fiber *fiber, enum fiber_state state, int64_t now)
{
	fib_store(&fiber->since, now);
	fib_store(&fiber->state, (uint8_t)state);
}

/* Exchange what is in the slot for the fiber woken last. */
static struct fiber *swap_woken(struct fib_carrier *c, struct fiber *fiber)
{
	struct fiber *before;

	if (!c->queue.alone)
		return fib_swap(&c->woken, fiber);
	before = fib_load(&c->woken);
	fib_store(&c->woken, fiber);
	return before;
}

/* What runs after the next one should not have to wait for its memory: its stack, now that its record is
 * here, and the record of the one behind it. Where there are thieves it may be gone and be another fiber by now,
 * so nothing of it is read. */
static void prefetch(struct fib_carrier *c)
{
	struct fiber *after = fib_runqueue_peek(&c->queue, 0);
	struct fiber *behind = fib_runqueue_peek(&c->queue, 1);

	if (!behind)
		return;
	if (c->queue.alone)
		__builtin_prefetch((const void *)(uintptr_t)after->context.sp);
	__builtin_prefetch(behind, 1);
}

struct fiber *fib_next_local(struct fib_carrier *c)
{
	struct fiber *fiber;

	/* Two fibers that wake each other must not keep the rest waiting. */
	if (fib_load(&c->woken) && c->streak < STREAK_MAX) {
		fiber = swap_woken(c, NULL);
		if (fiber) {
			c->streak++;
			return fiber;
		}
	}
	c->streak = 0;
	fiber = fib_runqueue_take(&c->queue);
	if (fiber) {
		prefetch(c);
		return fiber;
	}
	fiber = fib_inject_take(&c->inbox);
	if (!fiber && fib_load(&c->woken))
		fiber = swap_woken(c, NULL);
	return fiber;
}

/* The same for one that no run queue takes. */
static fib_noinline void put_apart(struct fib_sched *s, struct fib_carrier *c, struct fiber *fiber)
{
	struct fib_carrier *home = &s->carriers[fiber->carrier];
	bool bound = fiber->flags & FIBER_BOUND;

	if (fiber->flags & FIBER_IDLE)
		fib_spare_put(s, fiber);
	else
		fib_inject_put(&home->inbox, fiber);
	if (!bound)
		fib_idle_notify(s);
	else if (!c || home != c || !c->current) /* in its idle hook it counts as asleep */
		fib_idle_wake(home);
}

/* Put it where it will be found, and see that it is. c: the calling carrier of s, NULL from elsewhere. */
static void put(struct fib_sched *s, struct fib_carrier *c, struct fiber *fiber, bool front)
{
	if (fib_unlikely(fiber->flags & FIB_APART)) {
		put_apart(s, c, fiber);
		return;
	}
	if (!c) {
		fib_inject_put(&s->inject, fiber);
	} else if (front) {
		struct fiber *before = swap_woken(c, fiber);

		if (before)
			fib_runqueue_put(&c->queue, before);
	} else {
		fib_runqueue_put(&c->queue, fiber);
	}
	if (!c || fib_load(&s->tells))
		fib_idle_notify(s);
}

void fib_ready(struct fiber *fiber, bool front)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fib_sched *s = fiber->sched;

	if (c && c->sched == s) {
		show(fiber, FIBER_RUNNABLE, fib_coarse_now());
		put(s, c, fiber, front);
		return;
	}
	/* From the put on the fiber may run and end, and s be finished, which only its own carriers
	 * would hold up. So whoever frees s looks here. */
	fib_add_relaxed(&s->visitors, 1);
	/* While every carrier sleeps nobody keeps the coarse clock. */
	fib_coarse_set(fib_os_now());
	show(fiber, FIBER_RUNNABLE, fib_coarse_now());
	put(s, NULL, fiber, front);
	/* label: sched.visit -- our last touch of s. */
	fib_sub(&s->visitors, 1);
}

/* One that no run queue takes has yielded. Only its own carrier runs a bound one, and c is about to look
 * for something to run itself when it has left an idle one. */
static fib_noinline void put_back(struct fib_carrier *c, struct fiber *fiber)
{
	if (fiber->flags & FIBER_IDLE)
		fib_spare_put(c->sched, fiber);
	else
		fib_inject_put(&c->inbox, fiber);
}

/* On the stack that was switched to: finish for the fiber that was left. */
static fib_always_inline void arrive(void)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *left = c->left;
	enum fib_after after = c->after;

	c->left = NULL;
	c->after = FIB_AFTER_NOTHING;
	if (after == FIB_AFTER_NOTHING)
		return;
	/* label: record.seq -- its registers are saved before it counts as left. */
	fib_store_release(&left->seq, fib_load(&left->seq) + 1);
	if (after == FIB_AFTER_EXIT) {
		fib_reap(c, left);
	} else if (after == FIB_AFTER_YIELD) {
		if (fib_unlikely(left->flags & FIB_APART)) {
			put_back(c, left);
			return;
		}
		fib_runqueue_put(&c->queue, left);
		if (c->sched->carrier_count > 1)
			fib_idle_notify(c->sched);
	}
}

/* c runs fiber from now on: its stack may change. */
static inline void start_running(struct fib_carrier *c, struct fiber *fiber)
{
	fib_store(&fiber->seq, fib_load(&fiber->seq) + 1);
	/* pairs: record.seq -- the odd number is out before anything else of the fiber changes. */
	fib_fence_release();
	show(fiber, FIBER_RUNNING, fib_coarse_now());
	fib_store(&fiber->wait_kind, FIB_WAIT_NONE);
	fiber->carrier = (uint16_t)c->index;
	c->current = fiber;
}

void fib_enter(struct fib_carrier *c, struct fiber *fiber)
{
	start_running(c, fiber);
	fib_context_switch(&c->idle, &c->announce, &fiber->context, &fiber->announce, false);
	arrive();
}

/* A fiber that leaves in the middle of a C++ exception takes along what the C++ runtime has noted of it for the thread;
 * everybody else finds nothing noted. */
static fib_noinline void leave_in_exception(struct fib_carrier *c, enum fib_after after)
{
	const struct fib_exceptions mine = *c->exceptions;

	*c->exceptions = (struct fib_exceptions){NULL, 0};
	fib_leave(after);
	*fib_carrier_self()->exceptions = mine;
}

void fib_leave(enum fib_after after)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c->current;
	struct fiber *next = NULL;
	struct fib_context *to = &c->idle;
	struct fib_announce *to_announce = &c->announce;

	if (fib_unlikely(c->exceptions != NULL) &&
	    (c->exceptions->caught || c->exceptions->uncaught)) {
		leave_in_exception(c, after);
		return;
	}
	if (--c->picks) {
		next = fib_next_local(c);
	} else if (after == FIB_AFTER_YIELD && fib_load(&fiber->cancelled)) {
		c->picks = 1; /* should it end here */
		fib_background_tell(fiber);
		c->picks = 0;
	}
	if (after == FIB_AFTER_YIELD) {
		int64_t now = fib_coarse_now();

		if (!next && c->picks)
			return;
		fiber->cpu += (uint64_t)(now - fib_load(&fiber->since));
		fib_store(&fiber->wait_kind, FIB_WAIT_YIELD);
		show(fiber, FIBER_RUNNABLE, now);
	}
	c->left = fiber;
	c->after = after;
	/* pairs: record.seq */
	if (next && !(fib_load_acquire(&next->seq) & 1)) {
		start_running(c, next);
		to = &next->context;
		to_announce = &next->announce;
	} else {
		c->pending = next;
		c->current = NULL;
	}
	/* The only call, so that fibers in the same place have the same return addresses. */
	fib_context_switch(&fiber->context, &fiber->announce, to, to_announce,
			   after == FIB_AFTER_EXIT);
	arrive();
}

void fib_begin(void *arg)
{
	struct fiber *fiber = arg;

	fib_context_begun(&fiber->announce);
	arrive();
	fiber_exit(fiber->fn(fiber->arg));
}
