/* SPDX-License-Identifier: MIT */
/* test_discard.c - discarding a fiber that was made and never ran frees its record */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "life/discard.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

static void *nothing(void *arg)
{
	return arg;
}

static void test_discard_unmade_fiber_gives_its_record_back(void **state)
{
	const uint64_t before = fib_registry_taken();
	struct fiber *f, *again;

	(void)state;
	assert_int_equal(fib_make(NULL, NULL, nothing, NULL, NULL, &f), 0);
	assert_int_equal(fib_registry_taken(), before + 1);
	fib_unmake(f);
	assert_int_equal(fib_registry_taken(), before);
	assert_int_equal(fiber_id(f), 0);
	assert_int_equal(fib_make(NULL, NULL, nothing, NULL, NULL, &again), 0);
	assert_ptr_equal(again, f);
	fib_unmake(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_discard_unmade_fiber_gives_its_record_back),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (fib_registry_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
