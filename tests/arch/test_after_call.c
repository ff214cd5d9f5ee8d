/* SPDX-License-Identifier: MIT */
/* test_after_call.c - the port knows each form of a call, and takes nothing else for one */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/arch/calls.h"
#include "tests/harness/watchdog.h"

/* Count the instructions of the list for which the answer is not the wanted one. */
static unsigned others(const struct arch_call *list, bool wanted)
{
	unsigned n = 0;

	for (; list->text; list++)
		if (fib_arch_after_call(list->before) != wanted) {
			print_error("# %s\n", list->text);
			n++;
		}
	return n;
}

static void test_calls_of_each_form_are_recognised(void **state)
{
	(void)state;
	assert_int_equal(others(arch_calls, true), 0);
}

static void test_other_instructions_are_not_taken_for_calls(void **state)
{
	(void)state;
	assert_int_equal(others(arch_no_calls, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_of_each_form_are_recognised),
		cmocka_unit_test(test_other_instructions_are_not_taken_for_calls),
	};

	harness_watchdog(30);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
