/* SPDX-License-Identifier: MIT */
/* test_timestamp.c - convert a moment to wall-clock time */
#include <stdlib.h>
#include <time.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/timestamp.h"

#define SECOND INT64_C(1000000000)

static struct ins_timestamp moment;
static int64_t ago, wall;

static void test_moment_of_a_clock_that_stands_still_is_measured_from_there(void **state)
{
	(void)state;
	ins_timestamp_set_fixed(&moment, 100 * SECOND, 5000 * SECOND);
	ins_timestamp_renew(&moment);
	ins_timestamp_convert(&moment, 98 * SECOND, &ago, &wall);
	assert_true(ago == 2 * SECOND);
	assert_true(wall == 4998 * SECOND);
	/* The moment is later than the fixed reading of the clock. */
	ins_timestamp_convert(&moment, 101 * SECOND, &ago, &wall);
	assert_true(ago == 0);
	assert_true(wall == 5001 * SECOND);
}

static void test_moment_of_a_clock_that_goes_on_is_measured_from_now(void **state)
{
	const int64_t before = ins_timestamp_wall();
	int64_t later;

	(void)state;
	ins_timestamp_set_running(&moment, 100 * SECOND);
	ins_timestamp_convert(&moment, 40 * SECOND, &ago, &wall);
	assert_true(ago == 60 * SECOND);
	assert_true(wall >= before - 60 * SECOND && wall <= ins_timestamp_wall() - 60 * SECOND);
	do {
		ins_timestamp_renew(&moment);
		ins_timestamp_convert(&moment, 40 * SECOND, &later, &wall);
	} while (later == ago);
	assert_true(later > ago);
	assert_true(wall >= before - 60 * SECOND && wall <= ins_timestamp_wall() - 60 * SECOND);
}

static void test_moment_of_a_senseless_clock_overflows_nothing(void **state)
{
	(void)state;
	ins_timestamp_set_fixed(&moment, INT64_MAX, 7);
	ins_timestamp_convert(&moment, INT64_MIN, &ago, &wall);
	assert_true(ago == INT64_MAX);
	ins_timestamp_set_fixed(&moment, INT64_MIN, INT64_MAX);
	ins_timestamp_convert(&moment, INT64_MAX, &ago, &wall);
	assert_true(ago == 0 && wall == INT64_MAX);
	ins_timestamp_set_running(&moment, INT64_MAX);
	ins_timestamp_renew(&moment);
	ins_timestamp_convert(&moment, INT64_MIN, &ago, &wall);
	assert_true(ago == INT64_MAX);
}

static void test_moment_words_are_the_time_of_day(void **state)
{
	char text[32];

	(void)state;
	setenv("TZ", "UTC-2", 1);
	tzset();
	assert_string_equal(ins_timestamp_format(1782345 * SECOND + 78999999, text, sizeof text),
			    "17:05:45.078");
	assert_string_equal(ins_timestamp_format(-1, text, sizeof text), "--:--:--.---");
	unsetenv("TZ");
	tzset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moment_of_a_clock_that_stands_still_is_measured_from_there),
		cmocka_unit_test(test_moment_of_a_clock_that_goes_on_is_measured_from_now),
		cmocka_unit_test(test_moment_of_a_senseless_clock_overflows_nothing),
		cmocka_unit_test(test_moment_words_are_the_time_of_day),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
