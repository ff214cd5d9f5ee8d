/* SPDX-License-Identifier: MIT */
/* test_deadline.c - a wait with a deadline is never taken for one without */
#include "inspect/threads/deadline.h"
#include "tests/harness/inspect/asleep.h"

#define NS INT64_C(1000000000)

static struct ins_source source = {.memory = asleep_memory};
static struct ins_sleeper sleeper = {.source = &source};

static uint64_t at(const struct timespec *time)
{
	return (uint64_t)(uintptr_t)time;
}

static void test_no_time_is_no_deadline(void **state)
{
	(void)state;
	sleeper.now = 5;
	assert_int_equal(ins_deadline_after(&sleeper, 0), INT64_MAX);
	assert_int_equal(ins_deadline_at(&sleeper, 0, CLOCK_REALTIME), INT64_MAX);
	assert_int_equal(ins_deadline_after_timeval(&sleeper, 0), INT64_MAX);
	assert_int_equal(ins_deadline_ms(&sleeper, -1), INT64_MAX);
}

static void test_a_length_of_time_counts_from_now(void **state)
{
	const struct timespec time = {2, 7};

	(void)state;
	sleeper.now = 5;
	assert_int_equal(ins_deadline_after(&sleeper, at(&time)), 5 + 2 * NS + 7);
	assert_int_equal(ins_deadline_after_timeval(&sleeper, at(&time)), 5 + 2 * NS + 7000);
	assert_int_equal(ins_deadline_ms(&sleeper, 3), 5 + 3000000);
	assert_int_equal(ins_deadline_ms(&sleeper, 0), 5);
}

static void test_a_time_of_a_clock_becomes_one_of_the_monotonic_clock(void **state)
{
	static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
	struct timespec time;
	int64_t left;
	size_t i;

	(void)state;
	sleeper.now = 1000 * NS;
	for (i = 0; i < 2; i++) {
		clock_gettime(clocks[i], &time);
		time.tv_sec += 3600;
		left = ins_deadline_at(&sleeper, at(&time), clocks[i]) - sleeper.now;
		/* It may take a while to come here. */
		assert_true(left <= 3600 * NS && left > 3400 * NS);
	}
}

static void test_a_time_that_cannot_be_known_is_a_deadline_all_the_same(void **state)
{
	const struct timespec far = {INT64_MAX, 999999999}, bad = {INT64_MIN, INT64_MIN};

	(void)state;
	sleeper.now = 5;
	assert_int_equal(ins_deadline_after(&sleeper, 16), 5);
	assert_int_equal(ins_deadline_at(&sleeper, 16, CLOCK_MONOTONIC), 5);
	assert_true(ins_deadline_after(&sleeper, at(&far)) < INT64_MAX);
	assert_true(ins_deadline_at(&sleeper, at(&far), CLOCK_MONOTONIC) < INT64_MAX);
	assert_true(ins_deadline_after(&sleeper, at(&bad)) < INT64_MAX);
	assert_true(ins_deadline_at(&sleeper, at(&bad), CLOCK_REALTIME) < INT64_MAX);
	/* A clock that does not exist. */
	assert_int_equal(ins_deadline_at(&sleeper, at(&far), 12345), 5);
	/* In a core the time of the clocks is not known. */
	sleeper.now = 0;
	assert_int_equal(ins_deadline_at(&sleeper, at(&far), CLOCK_MONOTONIC), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_time_is_no_deadline),
		cmocka_unit_test(test_a_length_of_time_counts_from_now),
		cmocka_unit_test(test_a_time_of_a_clock_becomes_one_of_the_monotonic_clock),
		cmocka_unit_test(test_a_time_that_cannot_be_known_is_a_deadline_all_the_same),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
