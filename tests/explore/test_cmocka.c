/* SPDX-License-Identifier: MIT */
/*
 * test_cmocka.c - where cmocka is told to write its errors, they become the message of a finding
 *
 * cmocka 2 has cmocka_set_callbacks(); the version that this program is linked with may have none.
 * So the function is defined here, and the assertion that fails is a stand-in for cmocka's.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

struct callbacks {
	void (*message)(const char *fmt, va_list ap);
	void (*error)(const char *fmt, va_list ap);
};

static struct callbacks given;

void cmocka_set_callbacks(const struct callbacks *callbacks);
void cmocka_set_callbacks(const struct callbacks *callbacks)
{
	given = *callbacks;
}

static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	given.error(fmt, ap);
	va_end(ap);
}

static void *fail_as_cmocka_does(void *arg)
{
	say("%d != %d\n", 1, 0);
	say("some/test.c:%d: error: Failure!", 40); /* 2.0 ends without a newline */
	if (getenv("CMOCKA_TEST_ABORT"))
		abort();
	return arg;
}

static void fail_in_fiber(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(fail_as_cmocka_does, NULL, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void test_errors_given_to_a_callback_are_the_message_and_the_place(void **state)
{
	struct fiber_test_result r = {.size = sizeof r};

	(void)state;
	assert_int_equal(fiber_test_explore(fail_in_fiber, NULL, NULL, &r), 1);
	assert_int_equal(r.verdict, FIBER_TEST_FAILED);
	assert_string_equal(r.message, "1 != 0");
	assert_string_equal(r.file, "some/test.c");
	assert_int_equal(r.line, 40);
	assert_null(given.error); /* not in this process */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_given_to_a_callback_are_the_message_and_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
