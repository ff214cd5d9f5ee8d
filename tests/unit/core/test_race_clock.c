/* SPDX-License-Identifier: MIT */
/* test_race_clock.c - the coarse clock never goes back, even when threads set it late */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "core/registry.h"
#include "tests/harness/watchdog.h"

static void test_registry_clock_ignores_a_time_that_has_passed(void **state)
{
	(void)state;
	fib_coarse_set(1000);
	fib_coarse_set(999);
	assert_int_equal(fib_coarse_now(), 1000);
	fib_coarse_set(1001);
	assert_int_equal(fib_coarse_now(), 1001);
}

static _Atomic int64_t next = 2000;
static _Atomic int back;

/* Each thread reads a time and sets it a little later; other threads set theirs meanwhile. */
static void *set_late(void *arg)
{
	int64_t now, seen, last = 0;

	while ((now = next++) < 200000) {
		fib_coarse_set(now);
		seen = fib_coarse_now();
		back += seen < last || seen < now;
		last = seen;
	}
	return arg;
}

static void test_registry_clock_set_by_many_never_goes_back(void **state)
{
	pthread_t threads[4];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, set_late, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(back, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry_clock_ignores_a_time_that_has_passed),
		cmocka_unit_test(test_registry_clock_set_by_many_never_goes_back),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests_name("race: clock", tests, NULL, NULL);
}
