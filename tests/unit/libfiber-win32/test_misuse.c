/* SPDX-License-Identifier: MIT */
/* test_misuse.c - one line names the call and what is wrong */
#include "win32_test.h"

#include "misuse.h"

static int die(void *arg)
{
	(void)arg;
	fib_win32_misuse("SomeCall", "the reason");
}

static void test_misuse_aborts_with_one_line(void **state)
{
	struct harness_child child;

	(void)state;
	harness_child(die, NULL, 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_string_equal(child.text, "libfiber-win32: SomeCall: the reason\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_misuse_aborts_with_one_line),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
