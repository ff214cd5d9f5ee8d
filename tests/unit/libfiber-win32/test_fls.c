/* SPDX-License-Identifier: MIT */
/* test_fls.c - fiber-local storage: indexes, values of each fiber, callbacks, errors */
#include "win32_test.h"

#include <stdlib.h>
#include <unistd.h>

static LPVOID home, fibers[2];
static DWORD slot;
static unsigned calls, wrong;
static uintptr_t sum;

static VOID CALLBACK count_call(PVOID value)
{
	calls++;
	sum += (uintptr_t)value;
}

static PVOID value_of(uintptr_t number)
{
	return (PVOID)number;
}

static int forget_calls(void **state)
{
	(void)state;
	calls = wrong = 0;
	sum = 0;
	return 0;
}

/* -- indexes -- */

static void test_fls_has_4079_indexes_and_reuses_the_lowest(void **state)
{
	static DWORD all[FLS_MAXIMUM_AVAILABLE];
	unsigned n = 0, i;

	(void)state;
	SetLastError(MARK);
	while ((all[n] = FlsAlloc(count_call)) != FLS_OUT_OF_INDEXES) {
		assert_true(FlsSetValue(all[n], value_of(n + 1)));
		n++;
	}
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_int_equal(n, 4079);
	assert_int_equal(all[0], 1);
	assert_int_equal(all[n - 1], FLS_MAXIMUM_AVAILABLE - 1);
	assert_true(FlsFree(all[16]));
	assert_int_equal(calls, 1);
	assert_int_equal(FlsAlloc(count_call), all[16]);
	assert_true(FlsSetValue(all[16], value_of(17)));
	for (i = 0; i < n; i++) {
		assert_ptr_equal(FlsGetValue(all[i]), value_of(i + 1));
		assert_true(FlsFree(all[i]));
	}
	assert_int_equal(calls, n + 1);
	assert_int_equal(sum, (uintptr_t)n * (n + 1) / 2 + 17);
}

static void test_fls_free_of_an_index_that_is_not_allocated_fails(void **state)
{
	static const DWORD none[] = {0, 127, 128, FLS_MAXIMUM_AVAILABLE, FLS_OUT_OF_INDEXES};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof none / sizeof none[0]; i++) {
		SetLastError(MARK);
		assert_false(FlsFree(none[i]));
		assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	}
	slot = FlsAlloc(NULL);
	assert_true(FlsFree(slot));
	assert_false(FlsFree(slot));
}

static void expect_invalid(DWORD index)
{
	SetLastError(MARK);
	assert_null(FlsGetValue(index));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	SetLastError(MARK);
	assert_false(FlsSetValue(index, value_of(1)));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

static void test_fls_indexes_out_of_range_are_refused(void **state)
{
	(void)state;
	expect_invalid(0);
	expect_invalid(FLS_MAXIMUM_AVAILABLE);
	expect_invalid(FLS_OUT_OF_INDEXES);
}

/* As on Windows, which does not look whether the index is allocated. */
static void test_fls_index_that_is_not_allocated_has_a_value(void **state)
{
	(void)state;
	assert_true(FlsSetValue(127, value_of(0x217)));
	SetLastError(MARK);
	assert_ptr_equal(FlsGetValue(127), value_of(0x217));
	assert_int_equal(GetLastError(), ERROR_SUCCESS);
	assert_true(FlsSetValue(127, NULL));
}

/* -- values -- */

static void test_fls_value_is_null_at_first_and_set_and_read(void **state)
{
	(void)state;
	slot = FlsAlloc(NULL);
	assert_int_not_equal(slot, 0);
	assert_null(FlsGetValue(slot));
	SetLastError(MARK);
	assert_true(FlsSetValue(slot, value_of(0x1587)));
	assert_int_equal(GetLastError(), MARK);
	assert_ptr_equal(FlsGetValue(slot), value_of(0x1587));
	assert_int_equal(GetLastError(), ERROR_SUCCESS);
	assert_true(FlsFree(slot));
}

static void test_fls_value_is_null_after_the_index_was_freed(void **state)
{
	DWORD again;

	(void)state;
	slot = FlsAlloc(NULL);
	FlsSetValue(slot, value_of(1));
	FlsFree(slot);
	SetLastError(MARK);
	assert_null(FlsGetValue(slot));
	assert_int_equal(GetLastError(), ERROR_SUCCESS);
	/* Stored while it is free, and lost when it is allocated again. */
	assert_true(FlsSetValue(slot, value_of(2)));
	assert_ptr_equal(FlsGetValue(slot), value_of(2));
	again = FlsAlloc(NULL);
	assert_int_equal(again, slot);
	assert_null(FlsGetValue(again));
	assert_int_equal(GetLastError(), ERROR_SUCCESS);
	FlsFree(again);
}

static VOID CALLBACK keep_value(LPVOID parameter)
{
	/* It has stored nothing yet, which the last error says. */
	SetLastError(MARK);
	wrong += FlsGetValue(slot) != NULL;
	wrong += GetLastError() != ERROR_INVALID_PARAMETER;
	wrong += !FlsSetValue(slot, parameter);
	for (;;) {
		SwitchToFiber(home);
		calls += FlsGetValue(slot) == parameter && GetLastError() == ERROR_SUCCESS;
	}
}

static void start_fibers(void)
{
	uintptr_t i;

	home = ConvertThreadToFiber(NULL);
	for (i = 0; i < 2; i++) {
		fibers[i] = CreateFiber(0, keep_value, value_of(100 + i));
		SwitchToFiber(fibers[i]);
	}
	assert_int_equal(wrong, 0);
}

static void test_fls_each_fiber_has_its_own_value(void **state)
{
	(void)state;
	slot = FlsAlloc(NULL);
	FlsSetValue(slot, value_of(7));
	start_fibers();
	/* The values of the thread are those of its fiber, and stay the thread's. */
	assert_ptr_equal(FlsGetValue(slot), value_of(7));
	SwitchToFiber(fibers[0]);
	SwitchToFiber(fibers[1]);
	assert_int_equal(calls, 2);
	assert_ptr_equal(FlsGetValue(slot), value_of(7));
	assert_true(ConvertFiberToThread());
	assert_ptr_equal(FlsGetValue(slot), value_of(7));
	DeleteFiber(fibers[0]);
	DeleteFiber(fibers[1]);
	FlsFree(slot);
}

static void test_fls_reused_index_is_null_in_every_fiber(void **state)
{
	(void)state;
	slot = FlsAlloc(NULL);
	start_fibers();
	FlsSetValue(slot, value_of(7));
	FlsFree(slot);
	FlsSetValue(slot, value_of(8));
	assert_int_equal(FlsAlloc(NULL), slot);
	assert_null(FlsGetValue(slot));
	SwitchToFiber(fibers[0]);
	SwitchToFiber(fibers[1]);
	assert_int_equal(calls, 0);
	ConvertFiberToThread();
	DeleteFiber(fibers[0]);
	DeleteFiber(fibers[1]);
	FlsFree(slot);
}

/* -- callbacks -- */

static void test_fls_callback_gets_each_value_but_null_when_the_index_is_freed(void **state)
{
	(void)state;
	slot = FlsAlloc(count_call);
	FlsSetValue(slot, value_of(5));
	assert_true(FlsFree(slot));
	assert_int_equal(calls, 1);
	assert_int_equal(sum, 5);
	slot = FlsAlloc(count_call);
	FlsSetValue(slot, NULL);
	assert_true(FlsFree(slot));
	assert_int_equal(calls, 1);
}

static void test_fls_callbacks_of_fibers_at_deletion_and_when_the_index_is_freed(void **state)
{
	(void)state;
	slot = FlsAlloc(count_call);
	start_fibers();
	FlsSetValue(slot, value_of(7));
	assert_int_equal(calls, 0);
	DeleteFiber(fibers[0]);
	assert_int_equal(calls, 1);
	assert_int_equal(sum, 100);
	assert_true(FlsFree(slot)); /* of this fiber and of the other */
	assert_int_equal(calls, 3);
	assert_int_equal(sum, 100 + 101 + 7);
	DeleteFiber(fibers[1]);
	assert_int_equal(calls, 3);
	ConvertFiberToThread();
}

static void test_fls_callbacks_of_more_fibers_than_are_taken_at_a_time(void **state)
{
	LPVOID all[200];
	uintptr_t i;

	(void)state;
	slot = FlsAlloc(count_call);
	home = ConvertThreadToFiber(NULL);
	for (i = 0; i < 200; i++) {
		all[i] = CreateFiber(0, keep_value, value_of(i + 1));
		SwitchToFiber(all[i]);
	}
	assert_true(FlsFree(slot));
	assert_int_equal(calls, 200);
	assert_int_equal(sum, 200 * 201 / 2);
	for (i = 0; i < 200; i++)
		DeleteFiber(all[i]);
	ConvertFiberToThread();
}

static VOID CALLBACK look_at_own(PVOID value)
{
	/* The value is out of its place, and FLS can be used. */
	wrong += FlsGetValue(slot) != NULL;
	FlsSetValue(slot, NULL);
	count_call(value);
}

static void *store_in_thread(void *arg)
{
	FlsSetValue(slot, arg);
	return NULL;
}

static void *store_in_fiber(void *arg)
{
	ConvertThreadToFiber(NULL);
	FlsSetValue(slot, arg);
	return NULL;
}

static VOID CALLBACK store_and_return(LPVOID parameter)
{
	FlsSetValue(slot, parameter);
}

static void *end_in_fiber(void *arg)
{
	home = ConvertThreadToFiber(NULL);
	FlsSetValue(slot, value_of(1000));
	SwitchToFiber(CreateFiber(0, store_and_return, arg));
	return NULL;
}

static void test_fls_callbacks_at_the_end_of_a_thread(void **state)
{
	(void)state;
	slot = FlsAlloc(look_at_own);
	in_thread(store_in_thread, value_of(3));
	assert_int_equal(calls, 1);
	in_thread(store_in_fiber, value_of(4));
	assert_int_equal(calls, 2);
	/* Of the fiber that runs when the thread ends; another one keeps its value. */
	in_thread(end_in_fiber, value_of(5));
	assert_int_equal(calls, 3);
	assert_int_equal(sum, 3 + 4 + 5);
	DeleteFiber(home);
	assert_int_equal(calls, 4);
	assert_int_equal(sum, 3 + 4 + 5 + 1000);
	assert_int_equal(wrong, 0);
	FlsFree(slot);
}

/* -- the end of the process -- */

static int ready[2];

static VOID CALLBACK say_end(PVOID value)
{
	if (value == value_of(2) && write(STDERR_FILENO, "ends\n", 5) != 5)
		abort();
	if (value != value_of(1))
		return;
	if (write(ready[1], "", 1) != 1)
		abort();
	for (;;)
		pause();
}

/* A thread that ends is in its callback and stays there; the process exits in spite of it. */
static int exit_while_a_callback_runs(void *arg)
{
	pthread_t thread;
	char byte;

	if (pipe(ready) < 0)
		return 1;
	slot = FlsAlloc(say_end);
	FlsSetValue(slot, value_of(2));
	if (pthread_create(&thread, NULL, store_in_thread, value_of(1)) != 0 ||
	    read(ready[0], &byte, 1) != 1)
		return 1;
	(void)arg;
	exit(23);
}

static void test_fls_callback_of_the_thread_that_ends_the_process(void **state)
{
	struct harness_child child;

	(void)state;
	if (!strcmp(harness_sanitizer(), "thread"))
		skip(); /* its children start no threads */
	harness_child(exit_while_a_callback_runs, NULL, 20, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 23);
	/* Once, and at most with words of a sanitizer about the other thread behind it. */
	assert_memory_equal(child.text, "ends\n", 5);
	assert_null(strstr(child.text + 1, "ends\n"));
}

#define FLS_TEST(name) cmocka_unit_test_setup(name, forget_calls)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLS_TEST(test_fls_has_4079_indexes_and_reuses_the_lowest),
		FLS_TEST(test_fls_free_of_an_index_that_is_not_allocated_fails),
		FLS_TEST(test_fls_indexes_out_of_range_are_refused),
		FLS_TEST(test_fls_index_that_is_not_allocated_has_a_value),
		FLS_TEST(test_fls_value_is_null_at_first_and_set_and_read),
		FLS_TEST(test_fls_value_is_null_after_the_index_was_freed),
		FLS_TEST(test_fls_each_fiber_has_its_own_value),
		FLS_TEST(test_fls_reused_index_is_null_in_every_fiber),
		FLS_TEST(test_fls_callback_gets_each_value_but_null_when_the_index_is_freed),
		FLS_TEST(test_fls_callbacks_of_fibers_at_deletion_and_when_the_index_is_freed),
		FLS_TEST(test_fls_callbacks_of_more_fibers_than_are_taken_at_a_time),
		FLS_TEST(test_fls_callbacks_at_the_end_of_a_thread),
		FLS_TEST(test_fls_callback_of_the_thread_that_ends_the_process),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
