/* SPDX-License-Identifier: MIT */
/*
 * test_tick.c - the clock, the tick's rest, and what only an observer can repair
 *
 * The test ticks itself, so nothing here waits for time. The last two tests let the real service
 * thread tick.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include "sched/observer.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "os/sample.h"
#include "watch/longrun.h"
#include "watch/tick.h"

#define FEW_TICKS 20u /* the tick continues this often after all carriers sleep */

static struct fib_sched s;
static _Atomic unsigned wakes;

static void wake(void)
{
	fib_add(&wakes, 1);
}

static int setup(void **state)
{
	(void)state;
	fib_store(&wakes, 0);
	fib_observer_set_waker(wake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fib_observer_set_waker(NULL);
	return 0;
}

static bool rests(void *arg)
{
	(void)arg;
	return !fib_tick(fib_os_now());
}

static void await_rest(void)
{
	assert_true(harness_until(rests, NULL, LIMIT_S));
}

static void *nothing(void *arg)
{
	return arg;
}

static void run_one(void)
{
	assert_int_equal(fiber_join(carriers_spawn(&s, "one", nothing, NULL), NULL, FIBER_FOREVER),
			 0);
}

static _Atomic bool on, stop;

static void *spins(void *arg)
{
	fib_store(&on, true);
	while (!fib_load(&stop))
		sched_yield();
	return arg;
}

static struct fiber *start_spinning(unsigned carriers)
{
	struct fiber *f;

	fib_store(&on, false);
	fib_store(&stop, false);
	carriers_start(&s, carriers);
	f = carriers_spawn(&s, "spins", spins, NULL);
	while (!fib_load(&on))
		sched_yield();
	return f;
}

static void stop_spinning(struct fiber *f)
{
	fib_store(&stop, true);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	carriers_stop(&s);
}

static void test_tick_sets_the_clock_and_goes_on_while_something_runs(void **state)
{
	struct fiber *f;
	int64_t now;
	unsigned i;

	(void)state;
	f = start_spinning(1);
	now = fib_os_now();
	for (i = 0; i < 3 * FEW_TICKS; i++) {
		now += 1000000;
		assert_true(fib_tick(now));
		assert_true(fib_coarse_now() == now);
	}
	assert_int_equal(fib_load(&wakes), 0);
	stop_spinning(f);
}

static void test_tick_comes_less_often_while_the_carriers_keep_the_clock(void **state)
{
	struct fiber *f;
	int64_t now;
	unsigned i;

	(void)state;
	f = start_spinning(2);
	now = fib_os_now();
	/* The spinning carrier does not report that it is awake; the test does so, as a busy
	 * server's carriers do. */
	fib_tick(now); /* it has just woken, and reported it */
	assert_int_equal(fib_tick(now), FIB_TICK);
	for (i = 0; i < 10; i++) {
		now += FIB_TICK_LONG;
		fib_observer_clock(&s.carriers[0], now);
		fib_observer_clock(&s.carriers[1], now);
		assert_int_equal(fib_tick(now), i ? FIB_TICK_LONG : 2 * FIB_TICK);
	}
	/* When one of them stops reporting, the tick is as frequent as before. */
	now += FIB_TICK_LONG;
	assert_int_equal(fib_tick(now), FIB_TICK);
	stop_spinning(f);
}

/* All carriers sleep in a futex or in the poller; no carrier is still going to sleep. */
static bool asleep(void *arg)
{
	struct fib_sched *sched = arg;
	unsigned i;

	for (i = 0; i < sched->carrier_count; i++) {
		uint32_t how = fib_load_acquire(&sched->carriers[i].sleeper.how);

		if (how != 1 && how != 2)
			return false;
	}
	return fib_idle_all_asleep(sched);
}

static void test_tick_rests_a_few_ticks_after_all_have_gone_to_sleep(void **state)
{
	unsigned i = 0;

	(void)state;
	carriers_start(&s, 2);
	assert_true(harness_until(asleep, &s, LIMIT_S));
	while (fib_tick(fib_os_now()))
		i++;
	assert_in_range(i, 0, 2 * FEW_TICKS);
	assert_int_equal(fib_load(&wakes), 0);
	carriers_stop(&s);
}

static void test_tick_that_rests_is_woken_by_the_first_carrier_and_only_by_that(void **state)
{
	unsigned i, before;

	(void)state;
	carriers_start(&s, 2);
	for (i = 0; i < 50; i++) {
		assert_true(harness_until(asleep, &s, LIMIT_S));
		await_rest();
		before = fib_load(&wakes);
		run_one();
		/* The carrier that ran the fiber had been woken before. */
		assert_int_equal(fib_load(&wakes), before + 1);
		run_one();
		assert_int_equal(fib_load(&wakes), before + 1);
	}
	carriers_stop(&s);
}

static void test_tick_that_rests_is_woken_by_a_new_scheduler(void **state)
{
	(void)state;
	await_rest();
	carriers_start(&s, 1);
	assert_true(fib_load(&wakes) >= 1);
	carriers_stop(&s);
}

static void test_tick_wakes_somebody_for_work_that_lies_about(void **state)
{
	struct fiber *f;

	(void)state;
	carriers_start(&s, 2);
	assert_true(harness_until(asleep, &s, LIMIT_S));
	/* Queue a fiber without a notification, as if its wake-up had been lost. */
	assert_int_equal(fib_make(NULL, &s, nothing, NULL, NULL, &f), 0);
	assert_int_equal(fib_live_enter(&s, 0), 0);
	f->sched = &s;
	fib_or(&f->life, FIB_LIFE_SUBMITTED);
	fib_store(&f->state, (uint8_t)FIBER_RUNNABLE);
	fib_inbox_put(&s.inbox, f);
	fib_tick(fib_os_now());
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	carriers_stop(&s);
}

static void test_tick_policy_is_the_process_s(void **state)
{
	struct fib_sched other;

	(void)state;
	assert_int_equal(fib_tick_policy(), -ESRCH);
	assert_int_equal(fib_tick_set_policy(FIBER_PINNED_WARN), -ESRCH);
	carriers_start(&s, 1);
	carriers_start(&other, 1);
	assert_int_equal(fib_tick_policy(), FIBER_PINNED_SILENT);
	assert_int_equal(fib_tick_set_policy(FIBER_PINNED_ERROR), FIBER_PINNED_SILENT);
	assert_int_equal(fib_tick_policy(), FIBER_PINNED_ERROR);
	assert_int_equal(fib_load(&s.pinned.policy), FIBER_PINNED_ERROR);
	assert_int_equal(fib_load(&other.pinned.policy), FIBER_PINNED_ERROR);
	carriers_stop(&s);
	carriers_stop(&other);
	assert_int_equal(fib_tick_policy(), -ESRCH);
}

static void *is_refused(void *arg)
{
	fiber_pin();
	fiber_sleep(1000000000);
	fiber_unpin();
	return arg;
}

static void test_tick_totals_are_over_all_schedulers(void **state)
{
	struct fib_sched other;
	uint64_t dropped;
	struct fiber *f;

	(void)state;
	assert_int_equal(fib_tick_fibers(), 0);
	assert_int_equal(fib_tick_carriers(), 0);
	assert_int_equal(fib_tick_pinned_events(&dropped), 0);
	carriers_start(&s, 2);
	assert_false(fib_tick_several());
	carriers_start(&other, 3);
	assert_true(fib_tick_several());
	assert_int_equal(fib_tick_carriers(), 5);
	fib_tick_set_policy(FIBER_PINNED_ERROR);
	assert_int_equal(
		fiber_join(carriers_spawn(&s, "one", is_refused, NULL), NULL, FIBER_FOREVER), 0);
	f = carriers_spawn(&other, "two", is_refused, NULL);
	while (fiber_state(f) != FIBER_DEAD)
		sched_yield();
	assert_int_equal(fib_tick_fibers(), 1);
	assert_int_equal(fib_tick_pinned_events(&dropped), 2);
	assert_int_equal(dropped, 0);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_tick_fibers(), 0);
	carriers_stop(&s);
	assert_false(fib_tick_several());
	carriers_stop(&other);
	assert_false(fib_tick_several());
	assert_int_equal(fib_tick_carriers(), 0);
}

static bool carrier_sleeps(void *ret_place)
{
	int rc;

	assert_true(fib_tick_place(fib_load(&s.carriers[0].tid), ret_place, &rc));
	return rc == 1;
}

static void test_tick_place_of_a_carrier_needs_no_file_to_be_opened(void **state)
{
	struct rlimit limit, none;
	struct fib_sleeper_place place = {0}, other;
	bool is_found;
	int rc, opened;

	(void)state;
	carriers_start(&s, 1);
	fib_longrun_await(&s.carriers[0]);
	assert_true(harness_until(carrier_sleeps, &place, LIMIT_S));
	assert_true(place.call >= 0 && place.sp && place.pc);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	is_found = fib_tick_place(fib_load(&s.carriers[0].tid), &other, &rc);
	opened = fib_os_thread_place(fib_load(&s.carriers[0].tid), &other);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(is_found && rc == 1);
	assert_int_equal(opened, -EMFILE);
	/* This thread is no carrier. */
	assert_false(fib_tick_place(fib_os_tid(), &other, &rc));
	assert_false(fib_tick_place(0, &other, &rc));
	carriers_stop(&s);
}

/* -- with the service thread -- */

static struct fiber_runtime *start_runtime(void)
{
	struct fiber_runtime_options o = {.size = sizeof o, .carriers = 1, .control_path = ""};
	struct fiber_runtime *rt = NULL;

	assert_int_equal(fiber_runtime_start(&o, &rt), 0);
	return rt;
}

/* Computes without a switch: only another thread can move the clock. */
static void *sees_the_clock_move(void *arg)
{
	unsigned moves;

	for (moves = 0; moves < 20; moves++) {
		int64_t before = fib_coarse_now();

		while (fib_coarse_now() == before)
			sched_yield();
	}
	return arg;
}

static void test_clock_moves_while_a_fiber_keeps_its_carrier(void **state)
{
	struct fiber_runtime *rt = start_runtime();
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, sees_the_clock_move, NULL, &f), 0);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

/* The same value at 50 looks in a row, at least 2 ms apart. */
static bool clock_rests(void *arg)
{
	static unsigned same;
	int64_t *last = arg, now = fib_coarse_now();

	same = now == *last ? same + 1 : 0;
	*last = now;
	return same >= 50;
}

static void test_clock_rests_while_all_sleep_and_moves_again_after(void **state)
{
	struct fiber_runtime *rt = start_runtime();
	struct fiber *f;
	int64_t last = 0;

	(void)state;
	assert_true(harness_until(clock_rests, &last, LIMIT_S));
	assert_int_equal(fiber_runtime_spawn(rt, NULL, sees_the_clock_move, NULL, &f), 0);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_true(fib_coarse_now() > last);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tick_sets_the_clock_and_goes_on_while_something_runs),
		TEST(test_tick_comes_less_often_while_the_carriers_keep_the_clock),
		TEST(test_tick_rests_a_few_ticks_after_all_have_gone_to_sleep),
		TEST(test_tick_that_rests_is_woken_by_the_first_carrier_and_only_by_that),
		TEST(test_tick_that_rests_is_woken_by_a_new_scheduler),
		TEST(test_tick_wakes_somebody_for_work_that_lies_about),
		TEST(test_tick_policy_is_the_process_s),
		TEST(test_tick_totals_are_over_all_schedulers),
		TEST(test_tick_place_of_a_carrier_needs_no_file_to_be_opened),
		cmocka_unit_test(test_clock_moves_while_a_fiber_keeps_its_carrier),
		cmocka_unit_test(test_clock_rests_while_all_sleep_and_moves_again_after),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (fib_registry_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
