/* SPDX-License-Identifier: MIT */
/*
 * test_recording.c - one recording at a time, by its number, which stops when its reader stops
 *
 * There is no service thread: the test plays it, and its clock.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "service/recording.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

#define SECOND INT64_C(1000000000)

static struct fib_wire_record_is is;

static void test_recording_needs_a_runtime(void **state)
{
	(void)state;
	assert_int_equal(fib_recording_start(1000, SECOND, &is), -ESRCH);
	assert_int_equal(fib_recording_events(), 0);
	assert_int_equal(fib_recording_read(1, SECOND, &is), -ESRCH);
}

static void test_recording_is_one_at_a_time_and_goes_by_its_number(void **state)
{
	struct fib_sched s;
	uint64_t id;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(fib_recording_start(1000, SECOND, &is), 0);
	assert_int_equal(is.events, 1024);
	assert_int_equal(is.runtimes, 1);
	assert_true(is.now > 0);
	id = is.id;
	assert_int_equal(fib_recording_events(), 1024);
	assert_int_equal(fib_recording_start(1000, SECOND, &is), -EBUSY);
	assert_int_equal(fib_recording_read(id + 1, SECOND, &is), -ESRCH);
	assert_int_equal(fib_recording_read(id, SECOND, &is), 0);
	assert_int_equal(is.id, id);
	assert_int_equal(fib_recording_stop(id, SECOND, &is), 0);
	assert_int_equal(fib_recording_events(), 0);
	assert_int_equal(fib_recording_stop(id, SECOND, &is), -ESRCH);
	assert_int_equal(fib_recording_start(1, SECOND, &is), 0);
	assert_true(is.id > id);
	assert_int_equal(fib_recording_stop(is.id, SECOND, &is), 0);
	carriers_stop(&s);
}

static void test_recording_that_nobody_reads_stops(void **state)
{
	struct fib_sched s;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(fib_recording_start(256, 0, &is), 0);
	fib_recording_look(FIB_WIRE_RECORD_LEASE);
	assert_int_equal(fib_recording_events(), 256);
	assert_int_equal(fib_recording_read(is.id, SECOND, &is), 0);
	fib_recording_look(FIB_WIRE_RECORD_LEASE + SECOND);
	assert_int_equal(fib_recording_events(), 256);
	fib_recording_look(FIB_WIRE_RECORD_LEASE + SECOND + 1);
	assert_int_equal(fib_recording_events(), 0);
	assert_int_equal(fib_recording_read(is.id, SECOND, &is), -ESRCH);
	carriers_stop(&s);
}

static void test_recording_takes_in_a_runtime_that_begins_later(void **state)
{
	struct fib_sched s, second;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(fib_recording_start(256, 0, &is), 0);
	carriers_start(&second, 1);
	assert_int_equal(fib_recording_read(is.id, SECOND, &is), 0);
	assert_int_equal(is.runtimes, 2);
	carriers_stop(&s);
	assert_int_equal(fib_recording_read(is.id, SECOND, &is), 0);
	assert_int_equal(is.runtimes, 1);
	assert_int_equal(fib_recording_stop(is.id, SECOND, &is), 0);
	carriers_stop(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording_needs_a_runtime),
		cmocka_unit_test(test_recording_is_one_at_a_time_and_goes_by_its_number),
		cmocka_unit_test(test_recording_that_nobody_reads_stops),
		cmocka_unit_test(test_recording_takes_in_a_runtime_that_begins_later),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
