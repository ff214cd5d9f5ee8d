/* SPDX-License-Identifier: MIT */
/* test_row_times.c - time in each state, as counted in the record up to its last state change */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "row_record.h"
#include "tests/harness/watchdog.h"

/* The record counts up to its last change of state; the time since then belongs to the current
 * state. */
static void test_row_has_its_times_in_all_states_until_now(void **state)
{
	static const uint8_t states[] = {FIBER_RUNNABLE, FIBER_RUNNING, FIBER_SUSPENDED,
					 FIBER_DEAD};

	(void)state;
	put(FIB_FIELD_RUNNABLE, 70);
	put(FIB_FIELD_WAITED, 30);
	put(FIB_FIELD_BORN, (uint64_t)NOW - 1600);
	for (size_t i = 0; i < 4; i++) {
		put(FIB_FIELD_STATE, states[i]);
		put(FIB_FIELD_SEQ, states[i] == FIBER_RUNNING ? 21 : 20);
		assert_true(decode());
		assert_int_equal(row.cpu, states[i] == FIBER_RUNNING ? 1500 : 500);
		assert_int_equal(row.runnable, states[i] == FIBER_RUNNABLE ? 1070 : 70);
		assert_int_equal(row.waited, states[i] == FIBER_SUSPENDED ? 1030 : 30);
		assert_int_equal(row.lived, row.cpu + row.runnable + row.waited);
	}
}

/* The waker was stopped between adding the waiting time and updating the start of the state. */
static void test_row_of_a_fiber_that_is_becoming_runnable_adds_up(void **state)
{
	(void)state;
	put(FIB_FIELD_STATE, FIBER_SUSPENDED);
	put(FIB_FIELD_SEQ, 20);
	put(FIB_FIELD_RUNNABLE, 70);
	put(FIB_FIELD_BORN, (uint64_t)NOW - 1600);
	put(FIB_FIELD_WAITED, 30 + 600);
	assert_true(decode());
	assert_int_equal(row.state, FIBER_RUNNABLE);
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
	assert_int_equal(row.age, 400);
	assert_int_equal(row.waited, 630);
	assert_int_equal(row.runnable, 470);
	assert_int_equal(row.lived, 1600);
	assert_int_equal(row.lived, row.cpu + row.runnable + row.waited);
	/* A value later than now was never counted. */
	put(FIB_FIELD_WAITED, 30 + 1001);
	assert_true(decode());
	assert_int_equal(row.state, FIBER_SUSPENDED);
	assert_int_equal(row.age, 1000);
}

static void test_row_of_a_fiber_that_was_not_submitted_has_not_lived(void **state)
{
	(void)state;
	put(FIB_FIELD_STATE, FIBER_CREATED);
	assert_true(decode());
	assert_int_equal(row.age, 1000);
	assert_int_equal(row.lived, 0);
	assert_int_equal(row.waited, 0);
}

static void test_row_of_an_older_registry_does_not_know_what_it_has_not(void **state)
{
	(void)state;
	l.fields[FIB_FIELD_BORN].size = l.fields[FIB_FIELD_CANCELLED].size = 0;
	l.fields[FIB_FIELD_MASKED].size = 0;
	assert_true(decode());
	assert_true(row.runnable == FIB_ROW_UNKNOWN);
	assert_true(row.waited == FIB_ROW_UNKNOWN);
	assert_true(row.lived == FIB_ROW_UNKNOWN);
	assert_int_equal(row.cancelled, 0);
	assert_int_equal(row.flags & FIB_ROW_MASKED, 0);
	assert_int_equal(row.cpu, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW_TEST(test_row_has_its_times_in_all_states_until_now),
		ROW_TEST(test_row_of_a_fiber_that_is_becoming_runnable_adds_up),
		ROW_TEST(test_row_of_a_fiber_that_was_not_submitted_has_not_lived),
		ROW_TEST(test_row_of_an_older_registry_does_not_know_what_it_has_not),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
