/* SPDX-License-Identifier: MIT */
/* test_cmd_watchdog.c - how long a fiber may hold its carrier: read, or changed and read back */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include <fiber.h>

#include "service/answer.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

#define MS INT64_C(1000000)

static struct fiber_runtime *rt;
static struct fib_wire_watchdog_is is;

static int start(int64_t long_run_ns)
{
	struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = 1, .control_path = "", .long_run_ns = long_run_ns};

	return fiber_runtime_start(&o, &rt);
}

static int setup(void **state)
{
	(void)state;
	return start(0);
}

static int teardown(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

/* Returns 0 with the answer in `is`, or the error of the answer. */
static int ask(int64_t threshold, enum fib_wire_mode mode)
{
	struct fib_wire_watchdog request = {threshold};

	fib_answer_introduce("unit", mode);
	return talk_ask(FIB_WIRE_WATCHDOG, &request, sizeof request, FIB_WIRE_WATCHDOG_IS, &is,
			sizeof is);
}

static void test_threshold_is_20_ms_unless_told_otherwise(void **state)
{
	(void)state;
	assert_int_equal(ask(FIB_WIRE_WATCHDOG_READ, FIB_WIRE_RO), 0);
	assert_int_equal(is.threshold, 20 * MS);
	assert_int_equal(is.previous, 20 * MS);
	assert_int_equal(is.events, 0);
}

static void test_threshold_of_the_options_counts_and_a_negative_one_is_off(void **state)
{
	(void)state;
	assert_int_equal(start(7 * MS), 0);
	assert_int_equal(ask(FIB_WIRE_WATCHDOG_READ, FIB_WIRE_RO), 0);
	assert_int_equal(is.threshold, 7 * MS);
	teardown(NULL);
	assert_int_equal(start(-1), 0);
	assert_int_equal(ask(FIB_WIRE_WATCHDOG_READ, FIB_WIRE_RO), 0);
	assert_int_equal(is.threshold, 0);
	teardown(NULL);
}

static void test_threshold_is_changed_and_read_back(void **state)
{
	(void)state;
	assert_int_equal(ask(5 * MS, FIB_WIRE_RW), 0);
	assert_int_equal(is.previous, 20 * MS);
	assert_int_equal(is.threshold, 5 * MS);
	assert_int_equal(ask(0, FIB_WIRE_ADMIN), 0);
	assert_int_equal(is.previous, 5 * MS);
	assert_int_equal(is.threshold, 0);
}

static void test_threshold_change_is_refused_where_one_may_only_look(void **state)
{
	(void)state;
	assert_int_equal(ask(5 * MS, FIB_WIRE_RO), -EPERM);
	assert_int_equal(ask(FIB_WIRE_WATCHDOG_READ, FIB_WIRE_RO), 0);
	assert_int_equal(is.threshold, 20 * MS);
}

static void test_threshold_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_int_equal(ask(-5, FIB_WIRE_RW), -EINVAL);
	assert_int_equal(ask(INT64_MAX, FIB_WIRE_RW), -EINVAL);
	assert_int_equal(ask(FIB_WIRE_WATCHDOG_READ, FIB_WIRE_RW), 0);
	assert_int_equal(is.threshold, 20 * MS);
}

static void test_threshold_without_a_runtime_says_so(void **state)
{
	(void)state;
	assert_int_equal(ask(FIB_WIRE_WATCHDOG_READ, FIB_WIRE_RW), -ESRCH);
	assert_int_equal(ask(MS, FIB_WIRE_RW), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_threshold_is_20_ms_unless_told_otherwise,
						setup, teardown),
		cmocka_unit_test(test_threshold_of_the_options_counts_and_a_negative_one_is_off),
		cmocka_unit_test_setup_teardown(test_threshold_is_changed_and_read_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_threshold_change_is_refused_where_one_may_only_look, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threshold_that_makes_no_sense_is_refused,
						setup, teardown),
		cmocka_unit_test(test_threshold_without_a_runtime_says_so),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
