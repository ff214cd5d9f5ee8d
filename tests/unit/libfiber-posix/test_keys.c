/* SPDX-License-Identifier: MIT */
/* test_keys.c - keys, and the values that fibers have under them */
#include "mixed.h"

#include <limits.h>

#include "threads/keys.h"
#include "threads/values.h"

#define VALUES 3
#define ROUNDS 300

static _Atomic int ended, wrong;

static void end(void *value)
{
	ended += value != NULL;
}

/* As the names of the C library do it: a thread's values are the C library's. */
static void set(pthread_key_t key, const void *value)
{
	if (fiber_self() && fpx_value_kept(key))
		wrong += fpx_value_set(key, value) != 0;
	else
		wrong += pthread_setspecific(key, value) != 0;
}

static void *get(pthread_key_t key)
{
	return fiber_self() && fpx_value_kept(key) ? fpx_value(key) : pthread_getspecific(key);
}

static void pause_shortly(void)
{
	if (fiber_yield() < 0)
		sched_yield();
}

/* -- a use of a number -- */

static void test_keys_with_the_same_number_are_not_the_same(void **state)
{
	pthread_key_t before, after;
	uint64_t use;

	(void)state;
	assert_int_equal(fpx_key_create(&before, end), 0);
	use = fpx_key_use(before);
	assert_true(use != 0 && fpx_keys_most() > before);
	assert_ptr_equal(fpx_key_destructor(before, use), end);
	assert_int_equal(fpx_key_delete(before), 0);
	assert_int_equal(fpx_key_use(before), 0);
	assert_null(fpx_key_destructor(before, use));
	assert_int_equal(fpx_key_delete(before), EINVAL);
	assert_int_equal(fpx_key_create(&after, NULL), 0);
	assert_int_equal(after, before);
	assert_true(fpx_key_use(after) != 0 && fpx_key_use(after) != use);
	assert_null(fpx_key_destructor(after, use));
	assert_int_equal(fpx_key_delete(after), 0);
}

static void test_keys_of_others_are_no_keys(void **state)
{
	pthread_key_t key;

	(void)state;
	assert_int_equal(pthread_key_create(&key, NULL), 0);
	assert_int_equal(fpx_key_use(key), 0);
	assert_int_equal(fpx_key_use(PTHREAD_KEYS_MAX), 0);
	assert_int_equal(pthread_key_delete(key), 0);
}

/* Code that does not call this library has deleted the key. */
static void test_keys_deleted_by_others_are_other_keys(void **state)
{
	pthread_key_t before, after;
	uint64_t use;

	(void)state;
	assert_int_equal(fpx_key_create(&before, end), 0);
	use = fpx_key_use(before);
	assert_int_equal(pthread_key_delete(before), 0);
	assert_int_equal(fpx_key_create(&after, end), 0);
	assert_int_equal(after, before);
	assert_true(fpx_key_use(after) != 0 && fpx_key_use(after) != use);
	assert_int_equal(fpx_key_delete(after), 0);
}

static void test_keys_are_limited_as_in_the_c_library(void **state)
{
	pthread_key_t keys[PTHREAD_KEYS_MAX], more;
	int n = 0;

	(void)state;
	while (fpx_key_create(&keys[n], NULL) == 0)
		n++;
	assert_true(n > PTHREAD_KEYS_MAX / 2);
	assert_int_equal(fpx_key_create(&more, NULL), EAGAIN);
	while (n > 0)
		assert_int_equal(fpx_key_delete(keys[--n]), 0);
}

/* -- at once -- */

static pthread_key_t shared;

/* Keys come and go in all fibers and threads, which so get each other's numbers. */
static void *make_and_delete(void *arg)
{
	pthread_key_t keys[VALUES] = {0};

	set(shared, keys);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < VALUES; i++) {
			wrong += fpx_key_create(&keys[i], end) != 0;
			wrong += get(keys[i]) != NULL;
			set(keys[i], &keys[i]);
		}
		pause_shortly();
		for (int i = 0; i < VALUES; i++) {
			wrong += get(keys[i]) != &keys[i];
			wrong += fpx_key_delete(keys[i]) != 0;
		}
	}
	wrong += get(shared) != keys;
	return arg;
}

static void test_keys_come_and_go_in_fibers_and_threads(void **state)
{
	(void)state;
	ended = wrong = 0;
	assert_int_equal(fpx_key_create(&shared, end), 0);
	mixed_run(make_and_delete, NULL);
	assert_int_equal(wrong, 0);
	/* The destructors of deleted keys are not called. */
	assert_int_equal(ended, FIBERS + THREADS);
	assert_int_equal(fpx_key_delete(shared), 0);
}

/* -- the end of a fiber -- */

static pthread_key_t ends;

static void end_by_exit(void *value)
{
	ended++;
	if (value != &ended)
		return;
	fpx_value_set(ends, &ends);
	fiber_exit(NULL);
}

static void *exit_in_destructor(void *arg)
{
	wrong += fpx_value_set(shared, arg) != 0;
	wrong += fpx_value_set(ends, &ended) != 0;
	return arg;
}

/* The destructor does not return. All others are called, and the value that it has set is ended. */
static void test_keys_end_if_a_destructor_exits(void **state)
{
	(void)state;
	ended = wrong = 0;
	assert_int_equal(fpx_key_create(&ends, end_by_exit), 0);
	assert_int_equal(fpx_key_create(&shared, end), 0);
	inside(exit_in_destructor, &shared);
	assert_int_equal(wrong, 0);
	assert_int_equal(ended, 3);
	assert_int_equal(fpx_key_delete(shared), 0);
	assert_int_equal(fpx_key_delete(ends), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_with_the_same_number_are_not_the_same),
		cmocka_unit_test(test_keys_of_others_are_no_keys),
		cmocka_unit_test(test_keys_deleted_by_others_are_other_keys),
		cmocka_unit_test(test_keys_are_limited_as_in_the_c_library),
		cmocka_unit_test(test_keys_come_and_go_in_fibers_and_threads),
		cmocka_unit_test(test_keys_end_if_a_destructor_exits),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
