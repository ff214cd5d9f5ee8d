/* SPDX-License-Identifier: MIT */
/* test_fiber_text.c - a fiber without a name is called by its function */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "core/fiber_text.h"
#include "os/place.h"
#include "tests/harness/watchdog.h"

static struct fib_os_pipe none = FIB_OS_NO_PIPE;

static void test_a_name_is_quoted_whatever_the_function(void **state)
{
	char buf[FIB_LOG_NAME];

	(void)state;
	assert_string_equal(fib_fiber_text(buf, "a \"b\"", (uintptr_t)fib_fiber_text, &none),
			    "\"a \\\"b\\\"\"");
}

static void test_a_fiber_without_a_name_is_called_by_its_function(void **state)
{
	const uint64_t entry = (uintptr_t)test_a_name_is_quoted_whatever_the_function;
	char buf[FIB_LOG_NAME], wanted[FIB_LOG_NAME];
	struct fib_os_place place;

	(void)state;
	assert_true(fib_os_place_find(&none, entry, &place));
	snprintf(wanted, sizeof wanted, "(test_fiber_text+0x%llx)",
		 (unsigned long long)place.offset);
	assert_string_equal(fib_fiber_text(buf, "", entry, &none), wanted);
}

static void test_nothing_known_is_an_empty_name(void **state)
{
	char buf[FIB_LOG_NAME];

	(void)state;
	assert_string_equal(fib_fiber_text(buf, "", 0, &none), "\"\"");
	assert_string_equal(fib_fiber_text(buf, "", 1, &none), "\"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_is_quoted_whatever_the_function),
		cmocka_unit_test(test_a_fiber_without_a_name_is_called_by_its_function),
		cmocka_unit_test(test_nothing_known_is_an_empty_name),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
