/* SPDX-License-Identifier: MIT */
/* test_time.c - a deadline neither overflows nor lies before the start of the clock */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fiber/time.h>

#include "core/registry.h"
#include "tests/harness/watchdog.h"

#define SECOND INT64_C(1000000000)

static void test_after_saturates(void **state)
{
	int64_t now = fiber_now();

	(void)state;
	assert_true(now > 0);
	assert_true(fiber_after(INT64_MAX) == FIBER_FOREVER);
	assert_true(fiber_after(INT64_MAX - now + SECOND) == FIBER_FOREVER);
	assert_true(fiber_after(INT64_MIN) == 0);
	assert_true(fiber_after(SECOND) >= now + SECOND);
	assert_true(fiber_after(-1) < fiber_now());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after_saturates),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (fib_registry_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
