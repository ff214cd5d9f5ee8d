/* SPDX-License-Identifier: MIT */
/*
 * carrier.c - the main loop of a carrier: find a fiber, run it, sleep when there is none
 *
 * Fibers switch directly to each other while the carrier's own queue has any. The idle context, on
 * the thread's own stack, is entered when the queue is empty, after every FIB_LOOK_EVERY fibers, and
 * when a fiber leaves FIB_LOOK_WITHIN ns after the last time.
 * It looks outside: due timers, ready descriptors, fibers submitted by other threads.
 */
#include "sched/sched.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/tls.h"
#include "core/registry.h"
#include "core/sole.h"
#include "os/os.h"
#include "probe.h"
#include "sched/observer.h"
#include "sched/steal.h"

#define SEARCH_ROUNDS 40
#define LOOK_ROUNDS   4 /* after a nap, or beside another carrier that searches */
#define RELAX_TURNS   40

/*
 * Wake at most as many fibers as run before the next look outside. The other due timers stay in the
 * heap, in order; so the woken fibers run while their memory is still cached.
 */
static void expire(struct fib_carrier *c, struct fib_timers *t, int64_t now)
{
	struct fiber *due[FIB_TIMERS_BATCH];
	unsigned n, i, woken = 0;

	while (woken < FIB_LOOK_EVERY && (n = fib_timers_expire(t, now, due, FIB_TIMERS_BATCH))) {
		for (i = 0; i < n; i++)
			fib_ready(due[i], false);
		woken += n;
	}
	if (woken)
		fib_counters_raise(&c->counters.timeouts, woken);
}

/*
 * Expire c's own timers, and overdue timers of carriers that compute or block and do not look at
 * them.
 */
static void expire_timers(struct fib_carrier *c)
{
	struct fib_sched *s = c->sched;
	int64_t now = fib_coarse_now();
	unsigned i;

	if (fib_load(&c->timers.nearest) != INT64_MAX) {
		now = fib_os_now();
		fib_observer_clock(c, now);
		expire(c, &c->timers, now);
	}
	for (i = 0; i < s->carrier_count; i++)
		if (fib_timers_overdue(&s->carriers[i].timers, now))
			expire(c, &s->carriers[i].timers, now);
}

static struct fiber *take_submitted(struct fib_carrier *c)
{
	struct fiber *fiber = fib_inbox_take(&c->inbox);

	return fiber ? fiber : fib_inbox_take(&c->sched->inbox);
}

/*
 * Spin for some tens of microseconds: waking a sleeping CPU costs more. One carrier at a time does
 * that. Do not spin while an idle fiber could run, while no other carrier can, or while enough others
 * are awake.
 */
static struct fiber *search(struct fib_carrier *c)
{
	const bool only = fib_idle_search(c);
	const int rounds = only && !c->naps ? SEARCH_ROUNDS : LOOK_ROUNDS;
	bool looked = true, idle_fibers, rested;
	struct fiber *fiber = NULL;
	int round, i;

	if (c->sched->carrier_count == 1 || fib_idle_spare(c->sched))
		return NULL;
	if (!c->naps)
		fib_steal_begin(c);
	for (round = 0; round < rounds && looked && !fiber; round++) {
		idle_fibers = round > 0 && fib_idle_fibers_visible(c->sched, c);
		rested = round == 0 && c->naps;
		fiber = fib_steal(c, idle_fibers || rested || round >= rounds / 2, rested, &looked);
		if (!fiber)
			fiber = take_submitted(c);
		if (idle_fibers)
			break;
		for (i = 0; i < RELAX_TURNS && !fiber; i++)
			fib_relax();
	}
	return fiber;
}

/* Find the next fiber from any source; NULL when the scheduler stops. */
static struct fiber *find_fiber(struct fib_carrier *c)
{
	struct fiber *fiber;
	bool trims;

	for (;;) {
		fib_counters_give(c);
		fib_recorder_apply(c);
		c->above.tell_ended(c->sched);
		expire_timers(c);
		trims = c->sched->trim.after && fib_trim_pass(c);
		if (c->sched->carrier_count > 1)
			fib_store(&c->cpu, fib_os_cpu());
		fib_idle_poll(c);
		fiber = take_submitted(c);
		if (!fiber)
			fiber = fib_next_local(c);
		if (!fiber)
			fiber = search(c);
		if (!fiber)
			fiber = fib_idle_fibers_take(c);
		if (fiber)
			break;
		if (fib_load_acquire(&c->sched->stopping))
			return NULL;
		fib_stack_trim(fib_coarse_now());
		if (!trims)
			fib_idle_sleep(c);
	}
	c->naps = 0;
	fib_idle_found(c);
	/* An idle fiber that was requeued here notified no carrier. */
	if (c->sched->carrier_count > 1 && fib_idle_fibers_visible(c->sched, NULL))
		fib_idle_notify(c->sched);
	return fiber;
}

/*
 * Wait until the fiber has left the carrier on which it was queued. That takes a few instructions.
 * The idle context runs on no fiber's stack, so no carrier can be waiting for this one.
 */
static void await_saved(struct fiber *fiber)
{
	unsigned turns = 0;

	/* pairs: record.seq -- even: its registers are saved. */
	while (fib_load_acquire(&fiber->seq) & 1) {
		if (++turns % 64 == 0)
			fib_os_yield();
		else
			fib_relax();
	}
}

/* Defined if the program, or a library that was loaded before this one, contains C++. */
extern void *__cxa_get_globals(void) __attribute__((weak));

/*
 * A carrier thread must not exit, but it does: pthread_exit() was called in a fiber or an idle
 * hook, or the thread was cancelled. The C library has already left the fiber's stack, so none of
 * it is unwound after this.
 */
static void end_of_thread(void *arg)
{
	struct fib_carrier *c = arg;
	struct fiber *fiber = c->current;

	if (!fiber)
		fib_die("carrier %u ended without a fiber: pthread_exit() was called in the idle "
			"hook, or the thread was cancelled",
			c->index);
	fib_context_escaped(&fiber->announce, &c->announce);
	fib_die("fiber %llu \"%s\": pthread_exit() was called in a fiber, or its carrier was "
		"cancelled: a fiber ends by fiber_exit()",
		(unsigned long long)fiber->id, fiber->name);
}

/* Returns when the scheduler stops. */
static void run_fibers(struct fib_carrier *c)
{
	struct fiber *fiber;

	for (;;) {
		fiber = c->pending;
		c->pending = NULL;
		if (!fiber)
			fiber = find_fiber(c);
		if (!fiber)
			return;
		await_saved(fiber);
		fib_switch_in(c, fiber);
		c->has_run = true;
		if (c->departed)
			c->above.bury(c);
	}
}

/*
 * An allocator that is called first in a thread may set a value of pthread_setspecific(3), to clean up
 * when the thread ends. With libfiber-posix a fiber has such values itself, and its end would be taken
 * for the thread's.
 */
static void begin_allocations(void)
{
	void *volatile memory = malloc(1); /* volatile: the compiler would leave out both calls */

	free(memory);
}

void *fib_carrier_main(void *arg)
{
	struct fib_sight sights[FIB_CARRIERS_MAX];
	struct fib_carrier *c = arg;

	begin_allocations();
	c->sights = sights;
	fib_tls_set_carrier(c);
	c->tp = fib_arch_tp();
	c->tls_offset = fib_tls_carrier_offset(c->tp);
	fib_os_thread_name("fiber-carrier");
	if (__cxa_get_globals)
		c->exceptions = __cxa_get_globals();
	if (c->exceptions)
		fib_or(&c->slow_switch, FIB_SLOW_EXCEPTIONS);
	/*
	 * Without an alternate stack a stack overflow still ends the program, but with less
	 * information.
	 */
	if (fib_os_altstack_enter(&c->altstack) < 0)
		c->altstack = NULL;
	if (c->sched->carrier_count == 1)
		c->sole = fib_sole_begin();
	fib_context_adopt(&c->idle, &c->announce);
	if (c->sched->shared_fpu)
		fib_context_share(&c->idle);
	fib_hooks_thread_began(&c->halt.hooked);
	c->above.carrier_begins(c);
	fib_counters_give(c);
	pthread_cleanup_push(end_of_thread, c);
	run_fibers(c);
	pthread_cleanup_pop(0);
	fib_hooks_thread_ended(&c->halt.hooked);
	fib_sole_finish();
	fib_stack_flush(&c->stacks);
	fib_record_flush(&c->records);
	fib_context_done(&c->announce);
	if (c->altstack)
		fib_os_altstack_leave(c->altstack);
	fib_tls_set_carrier(NULL);
	return NULL;
}
