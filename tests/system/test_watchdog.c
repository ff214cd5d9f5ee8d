/* SPDX-License-Identifier: MIT */
/*
 * test_watchdog.c - a test may fork as soon as its watchdog has started
 *
 * With one CPU for all threads, a created thread has not started yet when its creator continues.
 */
#include "carriers.h"

#include "tests/harness/one_cpu.h"
#include "tests/harness/threads.h"

static unsigned watching; /* number of watchdog threads, right after the start */

static void test_watchdog_thread_has_begun_when_the_test_gets_its_turn(void **state)
{
	(void)state;
	assert_int_equal(watching, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watchdog_thread_has_begun_when_the_test_gets_its_turn),
	};

	harness_one_cpu();
	harness_watchdog(100);
	watching = harness_threads_called(HARNESS_WATCHDOG_THREAD);
	return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
