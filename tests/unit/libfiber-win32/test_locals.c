/* SPDX-License-Identifier: MIT */
/* test_locals.c - where values are, who takes them out, and with which callback */
#include "win32_test.h"

#include "locals.h"

static struct fib_win32_locals *locals;
static uint32_t slot;
static unsigned calls;

static void *number(uintptr_t n)
{
	return (void *)n;
}

static void test_locals_have_a_place_for_every_index(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 1; i < FLS_MAXIMUM_AVAILABLE; i++)
		assert_int_equal(fib_win32_locals_set(&locals, i, number(i)), 0);
	for (i = 1; i < FLS_MAXIMUM_AVAILABLE; i++)
		assert_ptr_equal(fib_win32_locals_get(locals, i), number(i));
	fib_win32_locals_free(locals);
	locals = NULL;
}

static void test_locals_without_a_chunk_are_null(void **state)
{
	(void)state;
	assert_int_equal(fib_win32_locals_set(&locals, 1, number(1)), 0);
	assert_null(fib_win32_locals_get(locals, 15));
	assert_null(fib_win32_locals_get(locals, 16));
	assert_null(fib_win32_locals_get(locals, FLS_MAXIMUM_AVAILABLE - 1));
	fib_win32_locals_free(locals);
	locals = NULL;
	fib_win32_locals_free(NULL);
}

static void test_locals_index_is_valid_in_its_range(void **state)
{
	(void)state;
	assert_false(fib_win32_index_valid(0));
	assert_true(fib_win32_index_valid(1));
	assert_true(fib_win32_index_valid(FLS_MAXIMUM_AVAILABLE - 1));
	assert_false(fib_win32_index_valid(FLS_MAXIMUM_AVAILABLE));
}

static void store_again(void *value)
{
	calls++;
	fib_win32_locals_set(&locals, slot, value);
}

static void test_locals_finish_looks_at_each_index_once(void **state)
{
	(void)state;
	calls = 0;
	slot = fib_win32_index_alloc(store_again);
	fib_win32_locals_set(&locals, slot, number(1));
	fib_win32_locals_finish(locals);
	assert_int_equal(calls, 1);
	fib_win32_locals_free(locals);
	locals = NULL;
	assert_true(fib_win32_index_free(slot));
	assert_int_equal(calls, 1);
}

static void free_index_inside(void *value)
{
	(void)value;
	/* It is being freed: not allocated, and not free either. */
	calls += !fib_win32_index_free(slot);
	calls += fib_win32_index_alloc(NULL) != slot;
}

static void test_locals_index_is_not_reused_before_its_callbacks_have_returned(void **state)
{
	(void)state;
	calls = 0;
	slot = fib_win32_index_alloc(free_index_inside);
	fib_win32_locals_set(&locals, slot, number(1));
	assert_true(fib_win32_index_free(slot));
	assert_int_equal(calls, 2);
	assert_true(fib_win32_index_free(slot + 1));
	assert_int_equal(fib_win32_index_alloc(NULL), slot);
	fib_win32_index_free(slot);
	fib_win32_locals_free(locals);
	locals = NULL;
}

/* -- one thread ends its values while another one frees the index: each value has one call -- */

#define ROUNDS 2000u

static pthread_barrier_t start;
static unsigned shared_calls;

static void count_shared(void *value)
{
	(void)value;
	__atomic_fetch_add(&shared_calls, 1, __ATOMIC_RELAXED);
}

static void *end_values(void *arg)
{
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		struct fib_win32_locals *own = NULL;

		pthread_barrier_wait(&start); /* the index is allocated */
		fib_win32_locals_set(&own, slot, arg);
		pthread_barrier_wait(&start);
		fib_win32_locals_finish(own);
		pthread_barrier_wait(&start);
		fib_win32_locals_free(own);
	}
	return NULL;
}

static void test_locals_value_that_two_threads_end_has_one_call(void **state)
{
	pthread_t thread;
	unsigned i;

	(void)state;
	pthread_barrier_init(&start, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, end_values, number(1)), 0);
	for (i = 0; i < ROUNDS; i++) {
		slot = fib_win32_index_alloc(count_shared);
		pthread_barrier_wait(&start);
		pthread_barrier_wait(&start); /* the value is stored */
		assert_true(fib_win32_index_free(slot));
		pthread_barrier_wait(&start);
		assert_int_equal(__atomic_load_n(&shared_calls, __ATOMIC_RELAXED), i + 1);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&start);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locals_have_a_place_for_every_index),
		cmocka_unit_test(test_locals_without_a_chunk_are_null),
		cmocka_unit_test(test_locals_index_is_valid_in_its_range),
		cmocka_unit_test(test_locals_finish_looks_at_each_index_once),
		cmocka_unit_test(
			test_locals_index_is_not_reused_before_its_callbacks_have_returned),
		cmocka_unit_test(test_locals_value_that_two_threads_end_has_one_call),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
