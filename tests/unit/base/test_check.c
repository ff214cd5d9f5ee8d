/* SPDX-License-Identifier: MIT */
/* test_check.c - a failed check prints its message last and then aborts */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

static struct harness_child child;

static int die(void *arg)
{
	fib_die("fiber %d \"%s\" unlocks what %s holds", 7, "req-7", (const char *)arg);
}

static void test_die_prints_one_line_and_aborts(void **state)
{
	(void)state;
	harness_child(die, "nobody", 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_string_equal(child.text, "libfiber: fiber 7 \"req-7\" unlocks what nobody holds\n");
}

static int die_with_abort_ignored(void *arg)
{
	signal(SIGABRT, SIG_IGN);
	return die(arg);
}

static void test_die_aborts_even_when_the_program_ignores_it(void **state)
{
	(void)state;
	harness_child(die_with_abort_ignored, "nobody", 20, &child);
	assert_int_equal(child.signal, SIGABRT);
}

static int die_unheard(void *arg)
{
	close(STDERR_FILENO);
	return die(arg);
}

static void test_die_aborts_without_a_stderr(void **state)
{
	(void)state;
	harness_child(die_unheard, "nobody", 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_string_equal(child.text, "");
}

static int give_null(void *arg)
{
	const struct harness_child *const fiber = arg ? NULL : &child;

	fib_must_have(fiber, "the fiber");
	return 0;
}

static void say_who(char text[FIB_CHECK_CALLER])
{
	snprintf(text, FIB_CHECK_CALLER, "fiber 7 \"req-7\"");
}

static int give_null_and_say_who(void *arg)
{
	fib_check_set_caller(say_who);
	return give_null(arg);
}

static void test_must_have_names_the_caller_the_call_and_what_is_null(void **state)
{
	(void)state;
	assert_int_equal(give_null(NULL), 0);
	harness_child(give_null, "null", 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_string_equal(child.text, "libfiber: give_null: the fiber is NULL\n");
	harness_child(give_null_and_say_who, "null", 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_string_equal(child.text,
			    "libfiber: fiber 7 \"req-7\": give_null: the fiber is NULL\n");
}

static const int line_of_check = __LINE__ + 6;

static int check_two(void *arg)
{
	int *number = arg;

	fib_check(++*number == 2);
	return *number;
}

static void test_check_names_the_place_and_the_promise(void **state)
{
	char expected[256];
	int number = 5;

	(void)state;
	snprintf(expected, sizeof expected, "libfiber: %s:%d: broken: ++*number == 2\n", __FILE__,
		 line_of_check);
	harness_child(check_two, &number, 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_string_equal(child.text, expected);
}

static void test_check_that_holds_is_silent_and_looks_once(void **state)
{
	int number = 1;

	(void)state;
	harness_child(check_two, &number, 20, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 2);
	assert_string_equal(child.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_die_prints_one_line_and_aborts),
		cmocka_unit_test(test_die_aborts_even_when_the_program_ignores_it),
		cmocka_unit_test(test_die_aborts_without_a_stderr),
		cmocka_unit_test(test_must_have_names_the_caller_the_call_and_what_is_null),
		cmocka_unit_test(test_check_names_the_place_and_the_promise),
		cmocka_unit_test(test_check_that_holds_is_silent_and_looks_once),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
