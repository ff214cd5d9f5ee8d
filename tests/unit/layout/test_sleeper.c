/* SPDX-License-Identifier: MIT */
/* test_sleeper.c - parse what the kernel says of a thread, and refuse what it never says */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "layout/sleeper.h"
#include "tests/harness/watchdog.h"

static struct fib_sleeper_place at;

static void test_a_thread_that_runs_has_no_place(void **state)
{
	(void)state;
	at.call = 7;
	assert_int_equal(fib_sleeper_parse("running\n", &at), 0);
	assert_int_equal(at.call, 7);
}

static void test_a_system_call_has_a_number_a_stack_pointer_and_a_program_counter(void **state)
{
	(void)state;
	assert_int_equal(fib_sleeper_parse("34 0x1 0x0 0xffffffffffffffff 0x3 0x4 0x5 "
					   "0x7ffd10 0x7f0000001234\n",
					   &at),
			 1);
	assert_int_equal(at.call, 34);
	assert_int_equal(at.sp, 0x7ffd10);
	assert_int_equal(at.pc, 0x7f0000001234);
	assert_int_equal(at.argument[0], 1);
	assert_true(at.argument[2] == UINT64_MAX);
	assert_int_equal(at.argument[5], 5);
	/* System call 0, read(2). */
	assert_int_equal(fib_sleeper_parse("0 0x0 0x0 0x0 0x0 0x0 0x0 0x10 0x20\n", &at), 1);
	assert_int_equal(at.call, 0);
	assert_int_equal(at.sp, 0x10);
	assert_int_equal(at.pc, 0x20);
}

static void test_who_is_in_no_system_call_has_no_arguments(void **state)
{
	(void)state;
	assert_int_equal(fib_sleeper_parse("-1 0x7ffd10 0x401000\n", &at), 1);
	assert_int_equal(at.call, -1);
	assert_int_equal(at.sp, 0x7ffd10);
	assert_int_equal(at.pc, 0x401000);
	for (int i = 0; i < FIB_SLEEPER_ARGUMENTS; i++)
		assert_int_equal(at.argument[i], 0);
}

static void test_anything_else_is_refused_and_writes_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"running",
		"runningfast\n",
		"34\n",
		"34 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n",
		"34 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
		"34 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9\n",
		"34 1 2 3 4 5 6 7 8\n",
		"34  0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
		"-2 0x1 0x2\n",
		"-1 0x1\n",
		"-1 0x1 0x2 0x3\n",
		"x 0x1 0x2\n",
		/* A thread that is exiting. */
		"-1 0x0 0x0\n",
		"0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n",
	};

	(void)state;
	at = (struct fib_sleeper_place){.call = 7, .sp = 8, .pc = 9};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_int_equal(fib_sleeper_parse(texts[i], &at), -EPROTO);
	assert_int_equal(at.call, 7);
	assert_int_equal(at.sp, 8);
	assert_int_equal(at.pc, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_runs_has_no_place),
		cmocka_unit_test(
			test_a_system_call_has_a_number_a_stack_pointer_and_a_program_counter),
		cmocka_unit_test(test_who_is_in_no_system_call_has_no_arguments),
		cmocka_unit_test(test_anything_else_is_refused_and_writes_nothing),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
