/* SPDX-License-Identifier: MIT */
/* test_command.c - the table of commands */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "service/command.h"
#include "tests/harness/watchdog.h"

static void test_command_each_request_has_one(void **state)
{
	(void)state;
	assert_ptr_equal(fib_command_find(FIB_WIRE_HELLO), &fib_cmd_hello);
	assert_ptr_equal(fib_command_find(FIB_WIRE_LIST), &fib_cmd_list);
	assert_ptr_equal(fib_command_find(FIB_WIRE_SHOW), &fib_cmd_show);
	assert_ptr_equal(fib_command_find(FIB_WIRE_STACK), &fib_cmd_stack);
	assert_ptr_equal(fib_command_find(FIB_WIRE_POLICY), &fib_cmd_policy);
	assert_ptr_equal(fib_command_find(FIB_WIRE_CARRIERS), &fib_cmd_carriers);
	assert_ptr_equal(fib_command_find(FIB_WIRE_COUNTERS), &fib_cmd_counters);
	assert_ptr_equal(fib_command_find(FIB_WIRE_ACT), &fib_cmd_act);
	assert_ptr_equal(fib_command_find(FIB_WIRE_AUDIT), &fib_cmd_audit);
	assert_ptr_equal(fib_command_find(FIB_WIRE_EVENTS), &fib_cmd_events);
	assert_ptr_equal(fib_command_find(FIB_WIRE_WATCHDOG), &fib_cmd_watchdog);
	assert_ptr_equal(fib_command_find(FIB_WIRE_RECORD), &fib_cmd_record);
	assert_ptr_equal(fib_command_find(FIB_WIRE_THREAD), &fib_cmd_thread);
	assert_string_equal(fib_cmd_policy.name, "policy");
}

static void test_command_answers_are_no_requests(void **state)
{
	unsigned type, known = 0;

	(void)state;
	for (type = 0; type <= UINT16_MAX; type++)
		if (fib_command_find((uint16_t)type))
			known++;
	assert_int_equal(known, 13);
	assert_null(fib_command_find(FIB_WIRE_ROWS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_each_request_has_one),
		cmocka_unit_test(test_command_answers_are_no_requests),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
