/* SPDX-License-Identifier: MIT */
/* test_gc.c - a stop without a runtime, and the locks that it keeps; with fibers: tests/system/test_gc_stop.c */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fiber.h>

#include "life/offload.h"
#include "sync/chan_list.h"
#include "tests/harness/watchdog.h"

static void test_gc_stop_without_a_runtime_keeps_the_locks_until_go(void **state)
{
	(void)state;
	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), -EDEADLK);
	assert_false(fib_chan_list_try());
	assert_false(fib_offload_try());
	assert_int_equal(fiber_gc_go(), 0);
	assert_int_equal(fiber_gc_go(), -EPERM);
	assert_true(fib_chan_list_try());
	fib_chan_list_unlock();
	assert_true(fib_offload_try());
	fib_offload_unlock();
}

static void test_gc_stop_gives_up_while_one_of_the_locks_is_held(void **state)
{
	(void)state;
	fib_offload_lock();
	assert_int_equal(fiber_gc_stop(fiber_after(1000000)), -ETIMEDOUT);
	assert_true(fib_chan_list_try());
	fib_chan_list_unlock();
	fib_offload_unlock();
	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
	assert_int_equal(fiber_gc_go(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gc_stop_without_a_runtime_keeps_the_locks_until_go),
		cmocka_unit_test(test_gc_stop_gives_up_while_one_of_the_locks_is_held),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
