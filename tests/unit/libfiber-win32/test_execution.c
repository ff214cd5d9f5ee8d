/* SPDX-License-Identifier: MIT */
/* test_execution.c - stacks that are switched to, left, ended and released */
#include "win32_test.h"

#include <errno.h>
#include <stdlib.h>

#include "execution.h"

static struct fib_win32_execution *own, *made;
static unsigned visits;
static bool was_busy, own_was_busy;

static void visit(void *arg)
{
	visits += arg == &visits;
	was_busy = fib_win32_execution_busy(made);
	own_was_busy = fib_win32_execution_busy(own);
	fib_win32_execution_switch(made, own);
	visits++;
	fib_win32_execution_end(made, own);
}

static int open_own(void **state)
{
	(void)state;
	own = fib_win32_execution_own(&own);
	visits = 0;
	if (own)
		fib_win32_execution_open(own, false);
	return own ? 0 : -1;
}

static int close_own(void **state)
{
	(void)state;
	fib_win32_execution_close(own);
	fib_win32_execution_unref(own);
	return 0;
}

static void test_execution_runs_is_left_and_ends(void **state)
{
	(void)state;
	assert_int_equal(fib_win32_execution_new(65536, false, visit, &visits, 0, 0, &made), 0);
	assert_true(made->size >= 65536);
	assert_false(fib_win32_execution_busy(made));
	assert_true(fib_win32_execution_busy(own));
	fib_win32_execution_switch(own, made);
	assert_int_equal(visits, 1);
	assert_true(was_busy);
	assert_false(own_was_busy);
	assert_false(fib_win32_execution_busy(made));
	assert_true(fib_win32_execution_busy(own));
	/* The last reference but one goes when it has ended, so it can still be looked at. */
	fib_win32_execution_ref(made);
	fib_win32_execution_switch(own, made);
	assert_int_equal(visits, 2);
	assert_true(made->ended);
	assert_int_equal(made->refs, 1);
	fib_win32_execution_unref(made);
}

static void test_execution_is_released_unrun_and_in_the_middle(void **state)
{
	(void)state;
	assert_int_equal(fib_win32_execution_new(65536, true, visit, &visits, 0, 0, &made), 0);
	fib_win32_execution_unref(made);
	assert_int_equal(visits, 0);
	assert_int_equal(fib_win32_execution_new(65536, true, visit, &visits, 0, 0, &made), 0);
	fib_win32_execution_switch(own, made);
	fib_win32_execution_unref(made);
	assert_int_equal(visits, 1);
}

static void test_execution_of_an_impossible_size_is_refused(void **state)
{
	(void)state;
	assert_int_equal(fib_win32_execution_new((size_t)1 << 30, false, visit, NULL, 0, 0, &made),
			 -EINVAL);
}

static void test_execution_of_a_thread_knows_its_stack(void **state)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	(void)state;
	assert_true(here - (uintptr_t)own->low < own->size);
	assert_ptr_equal(own->thread, &own);
	assert_null(own->stack.base);
}

#define EXECUTION_TEST(name) cmocka_unit_test_setup_teardown(name, open_own, close_own)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EXECUTION_TEST(test_execution_runs_is_left_and_ends),
		EXECUTION_TEST(test_execution_is_released_unrun_and_in_the_middle),
		EXECUTION_TEST(test_execution_of_an_impossible_size_is_refused),
		EXECUTION_TEST(test_execution_of_a_thread_knows_its_stack),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
