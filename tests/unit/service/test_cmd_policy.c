/* SPDX-License-Identifier: MIT */
/* test_cmd_policy.c - the pinned-blocking policy: read, or changed and read back */
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

static struct fiber_runtime *rt;
static struct fib_wire_policy_is is;

static int setup(void **state)
{
	struct fiber_runtime_options o = {.size = sizeof o,
					  .carriers = 1,
					  .control_path = "",
					  .pinned_policy = FIBER_PINNED_WARN};

	(void)state;
	return fiber_runtime_start(&o, &rt);
}

static int teardown(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

/* Returns 0 with the answer in `is`, or the error of the answer. */
static int ask(uint32_t policy, enum fib_wire_mode mode)
{
	struct fib_wire_policy request = {policy};

	fib_answer_introduce("unit", mode);
	return talk_ask(FIB_WIRE_POLICY, &request, sizeof request, FIB_WIRE_POLICY_IS, &is,
			sizeof is);
}

static void test_policy_is_read(void **state)
{
	(void)state;
	assert_int_equal(ask(FIB_WIRE_POLICY_READ, FIB_WIRE_RO), 0);
	assert_int_equal(is.policy, FIBER_PINNED_WARN);
	assert_int_equal(is.previous, FIBER_PINNED_WARN);
	assert_int_equal(is.events, 0);
}

static void test_policy_is_changed_and_read_back(void **state)
{
	(void)state;
	assert_int_equal(ask(FIBER_PINNED_ERROR, FIB_WIRE_RW), 0);
	assert_int_equal(is.previous, FIBER_PINNED_WARN);
	assert_int_equal(is.policy, FIBER_PINNED_ERROR);
	assert_int_equal(fiber_pinned_policy(rt), FIBER_PINNED_ERROR);
}

static void test_policy_change_is_refused_where_one_may_only_look(void **state)
{
	(void)state;
	assert_int_equal(ask(FIBER_PINNED_SILENT, FIB_WIRE_RO), -EPERM);
	assert_int_equal(fiber_pinned_policy(rt), FIBER_PINNED_WARN);
}

static void test_policy_that_does_not_exist_is_refused(void **state)
{
	(void)state;
	assert_int_equal(ask(7, FIB_WIRE_RW), -EINVAL);
	assert_int_equal(fiber_pinned_policy(rt), FIBER_PINNED_WARN);
}

static void test_policy_without_a_runtime_says_so(void **state)
{
	(void)state;
	assert_int_equal(ask(FIB_WIRE_POLICY_READ, FIB_WIRE_RW), -ESRCH);
	assert_int_equal(ask(FIBER_PINNED_WARN, FIB_WIRE_RW), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_policy_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_policy_is_changed_and_read_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_policy_change_is_refused_where_one_may_only_look, setup, teardown),
		cmocka_unit_test_setup_teardown(test_policy_that_does_not_exist_is_refused, setup,
						teardown),
		cmocka_unit_test(test_policy_without_a_runtime_says_so),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
