/* SPDX-License-Identifier: MIT */
/* test_observer.c - a carrier wakes the resting service thread, and counts its clock updates */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "carriers.h"
#include "sched/observer.h"
#include "tests/harness/watchdog.h"

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

static void test_observer_hurry_calls_the_waker(void **state)
{
	unsigned before;

	(void)state;
	before = fib_load(&wakes);
	fib_observer_hurry();
	assert_int_equal(fib_load(&wakes), before + 1);
	fib_observer_set_waker(NULL);
	fib_observer_hurry(); /* no observer: no effect */
}

static void test_observer_is_woken_once_for_each_rest(void **state)
{
	(void)state;
	fib_observer_awake(); /* the thread does not rest */
	assert_int_equal(fib_load(&wakes), 0);
	fib_observer_announce_rest();
	fib_observer_awake();
	fib_observer_awake();
	assert_int_equal(fib_load(&wakes), 1);
	fib_observer_announce_rest();
	fib_observer_end_rest();
	fib_observer_awake();
	assert_int_equal(fib_load(&wakes), 1);
}

static void test_observer_clock_is_set_and_counted(void **state)
{
	static struct fib_carrier c;
	const int64_t now = fib_os_now();

	(void)state;
	fib_observer_clock(&c, now);
	assert_true(fib_coarse_now() >= now);
	assert_int_equal(fib_load(&c.clocked), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_observer_hurry_calls_the_waker, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_observer_is_woken_once_for_each_rest, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_observer_clock_is_set_and_counted, setup,
						teardown),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
