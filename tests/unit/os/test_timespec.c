/* SPDX-License-Identifier: MIT */
/* test_timespec.c - no time is cut to the bytes of time_t */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "os/timespec.h"

#define SECOND INT64_C(1000000000) /* ns */

static void expect(int64_t ns, time_t seconds, long rest)
{
	const struct timespec t = fib_timespec(ns);

	assert_int_equal(t.tv_sec, seconds);
	assert_int_equal(t.tv_nsec, rest);
}

static void test_timespec_has_seconds_and_the_rest(void **state)
{
	(void)state;
	expect(0, 0, 0);
	expect(1, 0, 1);
	expect(SECOND - 1, 0, SECOND - 1);
	expect(SECOND, 1, 0);
	expect(7200 * SECOND + 5, 7200, 5);
	expect(INT32_MAX * SECOND, INT32_MAX, 0);
}

static void test_timespec_of_a_negative_time_is_zero(void **state)
{
	(void)state;
	expect(-1, 0, 0);
	expect(-SECOND, 0, 0);
	expect(INT64_MIN, 0, 0);
}

static void test_timespec_seconds_end_at_the_largest_time_t(void **state)
{
	const int64_t most = fib_timespec_most(4);

	(void)state;
	assert_int_equal(most, INT32_MAX);
	assert_int_equal(fib_timespec_most(8), INT64_MAX);
	assert_int_equal(fib_timespec_seconds((most - 1) * SECOND, most), most - 1);
	assert_int_equal(fib_timespec_seconds(most * SECOND, most), most);
	assert_int_equal(fib_timespec_seconds((most + 1) * SECOND, most), most);
	assert_int_equal(fib_timespec_seconds(2 * (most + 1) * SECOND, most), most);
	assert_int_equal(fib_timespec_seconds(INT64_MAX, most), most);
	assert_int_equal(fib_timespec_seconds(-SECOND, most), 0);
}

/* Also where time_t has 4 bytes. */
static void test_timespec_of_the_longest_time_is_long(void **state)
{
	const int64_t most = fib_timespec_most(sizeof(time_t));
	const int64_t seconds = INT64_MAX / SECOND;
	const struct timespec t = fib_timespec(INT64_MAX);

	(void)state;
	assert_int_equal(t.tv_sec, seconds < most ? seconds : most);
	assert_true(t.tv_nsec >= 0 && t.tv_nsec < SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timespec_has_seconds_and_the_rest),
		cmocka_unit_test(test_timespec_of_a_negative_time_is_zero),
		cmocka_unit_test(test_timespec_seconds_end_at_the_largest_time_t),
		cmocka_unit_test(test_timespec_of_the_longest_time_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
