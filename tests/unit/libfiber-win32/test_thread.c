/* SPDX-License-Identifier: MIT */
/* test_thread.c - the data of each thread, and what happens to it when the thread ends */
#include "win32_test.h"

#include "thread.h"

static struct fib_win32_thread *seen;
static unsigned calls;

static void *look(void *arg)
{
	(void)arg;
	if (fib_win32_thread_made())
		return (void *)1;
	seen = fib_win32_thread();
	if (!seen || fib_win32_thread_made() != seen || fib_win32_thread() != seen)
		return (void *)2;
	if (seen->running != seen->own || seen->fiber || seen->error)
		return (void *)3;
	if (fib_win32_fail(7) || seen->error != 7)
		return (void *)4;
	return NULL;
}

static void test_thread_has_data_of_its_own(void **state)
{
	struct fib_win32_thread *mine = fib_win32_thread();

	(void)state;
	assert_non_null(mine);
	mine->error = 5;
	assert_int_equal(in_thread(look, NULL), 0);
	assert_ptr_not_equal(seen, mine);
	assert_int_equal(mine->error, 5);
}

static void test_thread_values_are_those_of_its_fiber_while_it_is_one(void **state)
{
	struct fib_win32_thread *mine = fib_win32_thread();
	struct fib_win32_fiber fiber = {.data = NULL};

	(void)state;
	assert_ptr_equal(fib_win32_thread_locals(mine), &mine->locals);
	mine->fiber = &fiber;
	assert_ptr_equal(fib_win32_thread_locals(mine), &fiber.locals);
	mine->fiber = NULL;
}

static VOID CALLBACK store_once_more(PVOID value)
{
	/* Stored while the thread ends: its data is still there. */
	calls++;
	FlsSetValue((DWORD)(uintptr_t)value, value);
}

static void *store(void *arg)
{
	FlsSetValue((DWORD)(uintptr_t)arg, arg);
	return NULL;
}

static void test_thread_ends_though_a_callback_stores_a_value(void **state)
{
	DWORD index = FlsAlloc(store_once_more);

	(void)state;
	assert_int_equal(in_thread(store, (void *)(uintptr_t)index), 0);
	assert_int_equal(calls, 1);
	/* Nothing is left of the thread that could be called back. */
	assert_true(FlsFree(index));
	assert_int_equal(calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_has_data_of_its_own),
		cmocka_unit_test(test_thread_values_are_those_of_its_fiber_while_it_is_one),
		cmocka_unit_test(test_thread_ends_though_a_callback_stores_a_value),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
