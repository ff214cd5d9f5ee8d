/* SPDX-License-Identifier: MIT */
/*
 * switch.c - switch from one fiber to the next
 *
 * The sequence number tells other threads what state a fiber is in: odd before its stack can
 * change, even once its registers are saved. The switch itself makes it even as its last access to
 * the fiber, so a yielding fiber may be in a queue before it has left. A carrier that takes a fiber
 * with an odd number from a queue waits in its idle context, not on a fiber's stack: two carriers
 * waiting for each other's fiber to leave would wait for ever.
 *
 * An exiting fiber is not saved and needs no stack. It gives its stack and record to its own
 * carrier, which does not reuse them before the fiber has left. If the next fiber has not started,
 * it starts on that stack.
 */
#include "sched/sched.h"

#include "base/check.h"
#include "base/compiler.h"
#include "core/registry.h"
#include "os/os.h"
#include "probe.h"
#include "sched/astray.h"
#include "sched/locale.h"
#include "sched/own_tls.h"

#define TOGETHER 4u
#define YIELD_LINES \
	3 /* cache lines of stack to prefetch for a fiber that yields, which has few frames ... */
#define WAIT_LINES 12 /* ... and for one that waits in a library call */
#define STREAK_MAX 16u
#define FAIR_EVERY 16u /* looks outside; see start_queue.c */

/*
 * Prefetch `lines` lines of the stack of the fiber `ahead` places on, whose record is cached by
 * now, and the record of a later fiber. With thieves that fiber may be gone and its record reused,
 * so nothing of it is read.
 */
static fib_always_inline void prefetch(struct fib_carrier *c, const struct fib_runqueue_view *v,
				       uint32_t ahead, int lines)
{
	struct fiber *after = fib_runqueue_view_peek(v, ahead);
	struct fiber *behind = fib_runqueue_view_peek(v, 9);

	if (!after)
		return;
	if (c->queue.alone) {
		const char *sp = (const char *)(uintptr_t)after->context.sp;
		int i;

#pragma GCC unroll 16
		for (i = 0; i < lines; i++)
			__builtin_prefetch(sp + i * FIB_CACHE_LINE, 1);
	}
	if (behind)
		__builtin_prefetch(behind, 1);
}

/*
 * Prefetch for fibers that have been away for long, in waiting calls. The slowest part then is the
 * TLB miss of the stack's page. A prefetch waits for it, but the CPU handles several TLB misses at
 * a time. So several stacks are prefetched together.
 */
static fib_always_inline void prefetch_together(struct fib_carrier *c)
{
	const struct fib_runqueue_view v = fib_runqueue_view(&c->queue);

	if (c->queue.alone && v.head % TOGETHER == 0) {
		for (uint32_t i = TOGETHER; i < 2 * TOGETHER; i++) {
			struct fiber *soon = fib_runqueue_view_peek(&v, i);

			if (!soon)
				break;
			__builtin_prefetch((const char *)(uintptr_t)soon->context.sp, 1);
		}
	}
	prefetch(c, &v, 2, WAIT_LINES);
}

static inline struct fiber *next_local(struct fib_carrier *c, bool fair)
{
	struct fiber *fiber;

	/* Two fibers that wake each other must not keep the rest waiting. */
	if (fib_load(&c->woken) && c->streak < STREAK_MAX) {
		fiber = fib_swap_woken(c, NULL);
		if (fiber) {
			c->streak++;
			return fiber;
		}
	}
	c->streak = 0;
	if (fib_unlikely(fib_start_queue_due(&c->start_queue, &c->queue))) {
		fiber = fib_start_queue_take(&c->start_queue, fair);
		if (fiber)
			return fiber;
	}
	fiber = fib_runqueue_take(&c->queue);
	if (fiber) {
		prefetch_together(c);
		return fiber;
	}
	fiber = fib_start_queue_take(&c->start_queue, fair);
	if (!fiber)
		fiber = fib_inbox_take(&c->inbox);
	if (!fiber && fib_load(&c->woken))
		fiber = fib_swap_woken(c, NULL);
	return fiber;
}

struct fiber *fib_next_local(struct fib_carrier *c)
{
	return next_local(c, ++c->looks % FAIR_EVERY == 0);
}

static inline bool is_started(const struct fiber *fiber)
{
	return fiber->context.sp != 0;
}

/*
 * A: set before the first carrier starts. One for the process: a field of the carrier would cost
 * each start a register.
 */
static void (*_Atomic fiber_main)(void *fiber);

void fib_set_fiber_main(void (*main)(void *fiber))
{
	fib_store(&fiber_main, main);
}

static fib_noinline void start_fiber(struct fib_carrier *c, struct fiber *fiber)
{
	struct fib_stack stack;

	fib_stack_take_promised(&c->stacks, fiber->stack.class, &stack);
	fib_check(fib_start_on(fiber, &stack, fib_load(&fiber_main)) == 0);
}

static void count_delay(struct fib_carrier *c, struct fiber *fiber, int64_t now)
{
	const int64_t ns = now - fib_load(&fiber->since);

	fiber->runnable += (uint64_t)ns;
	fib_counters_delay(&c->counters, ns);
	fib_store(&fiber->since, now);
}

/* c runs fiber from now on, so its stack may change. now: ns of the coarse clock. */
static fib_always_inline void start_running(struct fib_carrier *c, struct fiber *fiber, int64_t now)
{
	fib_store(&fiber->seq, fib_load(&fiber->seq) + 1);
	/*
	 * pairs: record.seq -- the odd number is stored before anything else of the fiber changes.
	 */
	fib_fence_release();
	/* Usually it became runnable in the same tick. */
	if (fib_unlikely(fib_load(&fiber->since) != now))
		count_delay(c, fiber, now);
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNING);
	fib_store(&fiber->wait_kind, FIB_WAIT_NONE);
	fiber->carrier = (uint16_t)c->index;
	c->current = fiber;
}

/* After start_running(): another carrier may be trimming the stack. */
static fib_always_inline void await_trim(struct fib_carrier *c, const struct fiber *fiber)
{
	/* pairs: trim.gap -- seq was stored before; the fence is executed by the other carrier. */
	fib_fence_compiler();
	if (fib_unlikely(fib_load(&c->sched->trim.marks)))
		fib_trim_await(&c->sched->trim, fiber);
}

/*
 * Switch from fiber to next, or to the idle context if next is NULL or has not left its other
 * carrier.
 */
static fib_always_inline void switch_plain(struct fib_carrier *c, struct fiber *fiber,
					   struct fiber *next, int64_t now, unsigned slow)
{
	struct fib_context *to = &c->idle;
	struct fib_announce *to_announce = &c->announce;

	/* pairs: record.seq */
	if (next && !(fib_load_acquire(&next->seq) & 1)) {
		fib_probe2(switch, fiber->id, next->id);
		if (slow & FIB_SLOW_RECORDS)
			fib_recorder_ran(c, fiber, next);
		start_running(c, next, now);
		if (slow & FIB_SLOW_TRIM)
			await_trim(c, next);
		if (fib_unlikely(!is_started(next)))
			start_fiber(c, next);
		to = &next->context;
		to_announce = &next->announce;
	} else {
		if (slow & FIB_SLOW_RECORDS)
			fib_recorder_ran(c, fiber, NULL);
		c->pending = next;
		c->current = NULL;
		fib_probe2(switch, fiber->id, c->current); /* NULL here and below: no fiber */
	}
	if (slow & FIB_SLOW_OWN_TLS)
		fib_use_tls(c, to == &c->idle ? NULL : next->tls);
	fib_context_switch(&fiber->context, &fiber->announce, to, to_announce, &fiber->seq);
}

static inline bool in_exception(const struct fib_carrier *c)
{
	return c->exceptions && (c->exceptions->caught || c->exceptions->uncaught);
}

/*
 * A fiber that leaves during a C++ exception saves what the C++ runtime keeps of it per thread.
 * Other fibers find that state empty.
 */
static fib_noinline void switch_in_exception(struct fib_carrier *c, struct fiber *fiber,
					     struct fiber *next, int64_t now)
{
	const struct fib_exceptions mine = *c->exceptions;

	*c->exceptions = (struct fib_exceptions){NULL, 0};
	switch_plain(c, fiber, next, now, fib_load(&c->slow_switch));
	*fib_carrier_self()->exceptions = mine;
}

static fib_noinline void switch_slow(struct fib_carrier *c, struct fiber *fiber, struct fiber *next,
				     int64_t now)
{
	const unsigned slow = fib_load(&c->slow_switch);
	const bool locales = slow & FIB_SLOW_LOCALE && !fiber->tls;
	const locale_t mine = locales ? fib_locale_take() : LC_GLOBAL_LOCALE;

	if (in_exception(c))
		switch_in_exception(c, fiber, next, now);
	else
		switch_plain(c, fiber, next, now, slow);
	fib_locale_restore(mine);
}

/* Without an exception, a recorder and locales. */
static fib_noinline void switch_own_tls(struct fib_carrier *c, struct fiber *fiber,
					struct fiber *next, int64_t now)
{
	switch_plain(c, fiber, next, now, FIB_SLOW_OWN_TLS);
}

/* The same with stacks that are trimmed. */
static fib_noinline void switch_trimmed(struct fib_carrier *c, struct fiber *fiber,
					struct fiber *next, int64_t now)
{
	switch_plain(c, fiber, next, now, FIB_SLOW_OWN_TLS | FIB_SLOW_TRIM);
}

static fib_always_inline void switch_fiber(struct fib_carrier *c, struct fiber *fiber,
					   struct fiber *next, int64_t now)
{
	const unsigned slow = fib_load(&c->slow_switch);

	if (fib_likely(!slow) || (slow == FIB_SLOW_EXCEPTIONS && !in_exception(c)))
		switch_plain(c, fiber, next, now, 0);
	else if (slow == FIB_SLOW_OWN_TLS)
		switch_own_tls(c, fiber, next, now);
	else if (slow == (FIB_SLOW_OWN_TLS | FIB_SLOW_TRIM))
		switch_trimmed(c, fiber, next, now);
	else
		switch_slow(c, fiber, next, now);
}

void fib_switch_in(struct fib_carrier *c, struct fiber *fiber)
{
	const unsigned slow = fib_load(&c->slow_switch);

	fib_probe2(switch, c->current, fiber->id);
	if (fib_records(c))
		fib_recorder_ran(c, NULL, fiber);
	start_running(c, fiber, fib_coarse_now());
	if (slow & FIB_SLOW_TRIM)
		await_trim(c, fiber);
	if (!is_started(fiber))
		start_fiber(c, fiber);
	if (slow & FIB_SLOW_OWN_TLS)
		fib_use_tls(c, fiber->tls);
	fib_context_switch(&c->idle, &c->announce, &fiber->context, &fiber->announce, &c->left);
	/* What the register held, a fiber perhaps: 'fibertrace leaks' would take it for a handle. */
	c->idle.fp = 0;
}

/*
 * Queue a fiber that yields and never is in a run queue. No notification is needed: only c runs a
 * fiber bound to it, and after leaving an idle one c itself looks for work.
 */
static void requeue_apart(struct fib_carrier *c, struct fiber *fiber)
{
	if (fiber->flags & FIBER_IDLE)
		fib_idle_fibers_put(c->sched, fiber);
	else
		fib_inbox_put(&c->inbox, fiber);
}

/*
 * The clock has moved during the fiber's turn. Fibers that compute for long must not keep the carrier
 * from its timers and descriptors for FIB_LOOK_EVERY turns, nor what these wake for STREAK_MAX turns.
 */
void fib_turn_took(struct fiber *fiber, int64_t now)
{
	struct fib_carrier *c = fib_carrier_self();

	fiber->cpu += (uint64_t)(now - fib_load(&fiber->since));
	if (!fib_counters_late(c, now))
		return;
	fib_counters_last(c);
	c->streak = STREAK_MAX;
}

/* Returns the time of the coarse clock. */
static inline int64_t record_yield(struct fiber *fiber)
{
	int64_t now = fib_coarse_now();

	if (fib_unlikely(fib_load(&fiber->since) != now)) {
		fib_turn_took(fiber, now);
		fib_store(&fiber->since, now);
	}
	fib_store(&fiber->wait_kind, FIB_WAIT_YIELD);
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNABLE);
	return now;
}

/* Yield through the idle context, which looks outside. */
static fib_noinline void yield_to_idle(struct fib_carrier *c, struct fiber *fiber)
{
	fib_astray_look(fiber);
	c->picks = 1; /* in case the fiber exits here */
	if (fib_load(&fiber->cancelled))
		c->above.tell_cancelled(fiber);
	c->picks = 0;
	record_yield(fiber);
	if (fiber->flags & FIB_APART)
		requeue_apart(c, fiber);
	else
		fib_runqueue_put(&c->queue, fiber);
	switch_fiber(c, fiber, NULL, 0);
}

static bool alone_on(struct fib_carrier *c)
{
	return fib_runqueue_empty(&c->queue) && fib_start_queue_empty(&c->start_queue) &&
	       fib_inbox_empty(&c->inbox) && !fib_load(&c->woken);
}

/* No other fiber can run. The turn has been counted. */
static inline void yield_alone(struct fib_carrier *c, struct fiber *fiber)
{
	if (fib_likely(!fib_counters_late(c, fib_coarse_now()))) {
		c->counters.unused++;
		return;
	}
	c->picks++;
	fib_counters_last(c);
	yield_to_idle(c, fiber);
}

void fib_yield(struct fib_carrier *c, struct fiber *fiber)
{
	struct fiber *next;

	if (fib_unlikely(!--c->picks)) {
		yield_to_idle(c, fiber);
		return;
	}
	/* Usually no fiber is in woken or waits to start, and this one is not bound or idle. */
	if (!fib_load(&c->woken) && fib_start_queue_empty(&c->start_queue) &&
	    !(fiber->flags & FIB_APART)) {
		next = fib_runqueue_turn(&c->queue, fiber);
		if (next) {
			const struct fib_runqueue_view v = fib_runqueue_view(&c->queue);

			c->streak = 0;
			prefetch(c, &v, 3, YIELD_LINES);
			switch_fiber(c, fiber, next, record_yield(fiber));
			return;
		}
	}
	if (alone_on(c)) {
		yield_alone(c, fiber);
		return;
	}
	/*
	 * Queue the fiber before taking another one, so that a thief never finds the queue empty
	 * for a moment and goes to sleep. A thief may take the fiber and then waits until it has
	 * left.
	 */
	if (fib_unlikely(fiber->flags & FIB_APART))
		requeue_apart(c, fiber);
	else
		fib_runqueue_put(&c->queue, fiber);
	next = next_local(c, false);
	if (next == fiber)
		c->counters.unused++;
	else
		switch_fiber(c, fiber, next, record_yield(fiber));
}

/*
 * Take the oldest fiber of the queue, without a call. NULL: there are thieves, or the queue or the
 * start queue has to be looked at first.
 */
static fib_always_inline struct fiber *take_alone(struct fib_carrier *c)
{
	struct fiber *fiber;

	if (!c->queue.alone || !fib_start_queue_empty(&c->start_queue))
		return NULL;
	fiber = fib_runqueue_take_alone(&c->queue);
	if (fiber) {
		c->streak = 0;
		prefetch_together(c);
	}
	return fiber;
}

void fib_switch_out(struct fiber *fiber)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *next = fib_load(&c->woken);

	fib_probe3(park, fiber->id, fib_probe_byte(&fiber->wait_kind), fiber->wait_object);
	/* Usually the fiber has just woken another one. */
	if (fib_likely(next && c->queue.alone && c->streak < STREAK_MAX && c->picks > 1)) {
		c->picks--;
		c->streak++;
		fib_store(&c->woken, NULL);
	} else if (!next && c->picks > 1 && (next = take_alone(c))) {
		c->picks--;
	} else {
		next = --c->picks ? next_local(c, false) : NULL;
		if (fib_unlikely(!next))
			fib_astray_look(fiber);
	}
	switch_fiber(c, fiber, next, fib_coarse_now());
}

/* The second half of fib_switch_out_dead(): run next, or the idle context. */
static fib_always_inline _Noreturn void leave_for(struct fib_carrier *c, struct fiber *next,
						  const struct fib_stack *stack, unsigned slow)
{
	if (slow && in_exception(c)) /* the fiber exits in a catch block */
		*c->exceptions = (struct fib_exceptions){NULL, 0};
	/* pairs: record.seq */
	if (!next || (fib_load_acquire(&next->seq) & 1)) {
		if (slow & FIB_SLOW_RECORDS)
			fib_recorder_ran_after_end(c, NULL);
		c->pending = next;
		fib_stack_give(&c->stacks, stack);
		fib_context_leave(&c->gone, &c->idle, &c->announce);
	}
	fib_probe2(switch, c->current, next->id);
	/*
	 * next's seq is odd from here on: no reader takes its half-written start for a complete
	 * state.
	 */
	if (slow & FIB_SLOW_RECORDS)
		fib_recorder_ran_after_end(c, next);
	start_running(c, next, fib_coarse_now());
	if (slow & FIB_SLOW_TRIM)
		await_trim(c, next);
	if (slow & FIB_SLOW_OWN_TLS)
		fib_use_tls(c, next->tls);
	if (is_started(next)) {
		fib_stack_give(&c->stacks, stack);
	} else if (fib_announce_restarts() && stack->class == next->stack.class) {
		next->stack = *stack;
		fib_stack_unpromise(&c->stacks, stack->class);
		fib_context_restart(&next->context, (char *)stack->low + fib_stack_usable(stack),
				    fib_load(&fiber_main), next);
	} else {
		start_fiber(c, next);
		fib_stack_give(&c->stacks, stack);
	}
	fib_context_leave(&c->gone, &next->context, &next->announce);
}

static fib_noinline _Noreturn void leave_slowly_for(struct fib_carrier *c, struct fiber *next,
						    const struct fib_stack *stack)
{
	leave_for(c, next, stack, fib_load(&c->slow_switch));
}

_Noreturn void fib_switch_out_dead(struct fib_carrier *c, const struct fib_stack *stack)
{
	struct fiber *next = --c->picks ? next_local(c, false) : NULL;

	c->current = NULL;
	/*
	 * next may block for a long time; callers that wait for fibers to end are only notified by
	 * the idle context.
	 */
	if (next && fib_unlikely(next->flags & FIBER_BACKGROUND))
		c->above.tell_ended(c->sched);
	if (fib_unlikely(fib_load(&c->slow_switch)))
		leave_slowly_for(c, next, stack);
	leave_for(c, next, stack, 0);
}
