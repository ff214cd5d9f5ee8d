/* SPDX-License-Identifier: MIT */
/*
 * test_trim.c - a carrier does not run a fiber while another one trims its stack
 *
 * The test marks the stack itself, as the carrier that makes a pass does. The pass on real stacks is
 * tested in tests/system/test_trim.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdatomic.h>

#include <fiber/sync.h>

#include "carriers.h"
#include "sched/own_tls.h"
#include "tests/harness/watchdog.h"
#include "wait/cancel.h"

#define HOUR   INT64_C(3600000000000) /* ns */
#define MS     INT64_C(1000000)
#define WAITED (20 * MS)
#define AFTER  (5 * MS)

/* How the carrier comes to the marked fiber. */
enum way { FROM_IDLE, FROM_WAITING, FROM_EXITING, WAYS };

struct scene {
	struct fib_sched sched;
	struct fiber *fiber;
	struct fiber_sem gate, other;
	enum way way;
	atomic_bool woken, ran;
	_Atomic int64_t waits_from; /* on the clock of the passes */
};

static void start(struct scene *s, int64_t after)
{
	const struct fiber_runtime_options options = {.carriers = 1,
						      .carriers_max = 1,
						      .stack_size = FIB_STACK_DEFAULT,
						      .trim_waiting_ns = after};

	assert_int_equal(fib_registry_init(), 0);
	assert_int_equal(fib_sched_start(&s->sched, &options, carriers_ignore), 0);
}

static void *wait_and_run(void *arg)
{
	struct scene *s = arg;

	s->waits_from = fib_coarse_now();
	fiber_sem_wait(&s->gate, FIBER_FOREVER);
	s->ran = true;
	return arg;
}

static void *wake(void *arg)
{
	struct scene *s = arg;

	s->woken = true;
	fiber_sem_post(&s->gate);
	if (s->way == FROM_WAITING)
		fiber_sem_wait(&s->other, FIBER_FOREVER);
	return arg;
}

static void mark(struct scene *s, uintptr_t busy)
{
	fib_store(&s->sched.trim.marked[FIB_TRIM_AT_ONCE - 1], (uintptr_t)s->fiber + busy);
	fib_store_seq(&s->sched.trim.marks, 1);
}

static void await_ran(struct scene *s)
{
	while (!s->ran)
		fib_os_yield();
	fiber_sem_post(&s->other);
}

static struct fiber *wake_in(struct scene *s, unsigned flags)
{
	struct fiber *waker = NULL;

	if (s->way == FROM_IDLE)
		fiber_sem_post(&s->gate);
	else
		waker = carriers_spawn_flags(&s->sched, "waker", flags, wake, s);
	while (waker && !s->woken)
		fib_os_yield();
	return waker;
}

static void run(enum way way, unsigned flags, uintptr_t busy)
{
	struct scene s = {.way = way};
	_Atomic uintptr_t *const at = &s.sched.trim.marked[FIB_TRIM_AT_ONCE - 1];
	struct fiber *waker;

	start(&s, HOUR);
	s.fiber = carriers_spawn(&s.sched, "marked", wait_and_run, &s);
	while (fiber_state(s.fiber) != FIBER_SUSPENDED || fib_load(&s.fiber->seq) & 1)
		fib_os_yield();
	mark(&s, busy);
	waker = wake_in(&s, flags);
	if (busy) {
		fiber_sleep_until(fiber_after(WAITED));
		assert_false(s.ran);
		assert_true(fib_load(at) == (uintptr_t)s.fiber + 1);
		fib_store_release(at, 0);
	}
	await_ran(&s);
	assert_int_equal(fib_load(at), 0); /* taken back, or erased above */
	assert_int_equal(fiber_join(s.fiber, NULL, FIBER_FOREVER), 0);
	if (waker)
		assert_int_equal(fiber_join(waker, NULL, FIBER_FOREVER), 0);
	carriers_stop(&s.sched);
}

static void run_all(uintptr_t busy)
{
	const char *why;

	if (fib_os_barrier_prepare() < 0)
		skip();
	for (int way = FROM_IDLE; way < WAYS; way++) {
		run((enum way)way, 0, busy);
		if (fib_own_tls_check(&why) == 0)
			run((enum way)way, FIBER_OWN_TLS, busy);
	}
}

static void test_trim_a_fiber_waits_for_the_end_of_the_trimming(void **state)
{
	(void)state;
	run_all(1);
}

static void test_trim_a_fiber_takes_back_a_mark_that_is_not_claimed(void **state)
{
	(void)state;
	run_all(0);
}

static void test_trim_a_runtime_without_the_option_makes_no_passes(void **state)
{
	struct scene s = {.way = FROM_IDLE};

	(void)state;
	start(&s, 0);
	assert_false(fib_load(&s.sched.carriers[0].slow_switch) & FIB_SLOW_TRIM);
	s.fiber = carriers_spawn(&s.sched, "other", wait_and_run, &s);
	fiber_sem_post(&s.gate);
	await_ran(&s);
	assert_int_equal(fiber_join(s.fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_load(&s.sched.trim.begun), 0);
	carriers_stop(&s.sched);
}

/* A carrier that sleeps wakes for a pass once, not again and again. */
static void test_trim_an_idle_runtime_makes_one_pass(void **state)
{
	struct scene s = {.way = FROM_IDLE};
	int64_t begun;

	(void)state;
	if (fib_os_barrier_prepare() < 0)
		skip();
	start(&s, AFTER);
	s.fiber = carriers_spawn(&s.sched, "sleeper", wait_and_run, &s);
	while (fiber_state(s.fiber) != FIBER_SUSPENDED)
		fib_os_yield();
	/* The last pass begins that long after the fiber has run, or later. */
	while (fib_load(&s.sched.trim.begun) < s.waits_from + AFTER)
		fiber_sleep_until(fiber_after(MS));
	fiber_sleep_until(fiber_after(WAITED));
	begun = fib_load(&s.sched.trim.begun);
	fiber_sleep_until(fiber_after(2 * WAITED));
	assert_int_equal(fib_load(&s.sched.trim.begun), begun);
	fiber_sem_post(&s.gate);
	await_ran(&s);
	assert_int_equal(fiber_join(s.fiber, NULL, FIBER_FOREVER), 0);
	carriers_stop(&s.sched);
}

/* The longest time is never over, and no carrier wakes for it. */
static void test_trim_after_the_longest_time_wakes_no_carrier(void **state)
{
	struct scene s = {.way = FROM_IDLE};
	uint64_t polls;

	(void)state;
	start(&s, INT64_MAX);
	s.fiber = carriers_spawn(&s.sched, "sleeper", wait_and_run, &s);
	while (fiber_state(s.fiber) != FIBER_SUSPENDED)
		fib_os_yield();
	fiber_sleep_until(fiber_after(WAITED));
	polls = fib_load(&s.sched.polls);
	fiber_sleep_until(fiber_after(WAITED));
	assert_int_equal(fib_load(&s.sched.polls), polls);
	fiber_sem_post(&s.gate);
	await_ran(&s);
	assert_int_equal(fiber_join(s.fiber, NULL, FIBER_FOREVER), 0);
	carriers_stop(&s.sched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trim_a_fiber_waits_for_the_end_of_the_trimming),
		cmocka_unit_test(test_trim_a_fiber_takes_back_a_mark_that_is_not_claimed),
		cmocka_unit_test(test_trim_a_runtime_without_the_option_makes_no_passes),
		cmocka_unit_test(test_trim_an_idle_runtime_makes_one_pass),
		cmocka_unit_test(test_trim_after_the_longest_time_wakes_no_carrier),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
