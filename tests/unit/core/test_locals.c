/* SPDX-License-Identifier: MIT */
/* test_locals.c - a key finds only the value set under it, and destructors terminate */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/locals.h"
#include "tests/harness/watchdog.h"

static int one, two;

static void nothing(void *value)
{
	(void)value;
}

static void other(void *value)
{
	(void)value;
}

static fiber_key_t key_new(void (*destroy)(void *))
{
	fiber_key_t key = 0;

	assert_int_equal(fiber_key_create(&key, destroy), 0);
	assert_int_not_equal(key, 0);
	return key;
}

static void test_locals_none_are_null(void **state)
{
	fiber_key_t key = key_new(NULL);

	(void)state;
	assert_null(fib_locals_get(NULL, key));
	assert_null(fib_locals_get(NULL, 0));
	assert_int_equal(fiber_key_delete(key), 0);
}

static void test_locals_keep_each_key_apart(void **state)
{
	struct fib_locals *locals = NULL;
	fiber_key_t key[100];
	size_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		key[i] = key_new(NULL);
	/* Set keys from both ends, so that the table grows with values in it. */
	for (i = 0; i < 50; i++) {
		assert_int_equal(fib_locals_set(&locals, key[i], &key[i]), 0);
		assert_int_equal(fib_locals_set(&locals, key[99 - i], &key[99 - i]), 0);
	}
	for (i = 0; i < 100; i++)
		assert_ptr_equal(fib_locals_get(locals, key[i]), &key[i]);
	assert_int_equal(fib_locals_set(&locals, key[7], NULL), 0);
	assert_null(fib_locals_get(locals, key[7]));
	assert_ptr_equal(fib_locals_get(locals, key[8]), &key[8]);
	fib_locals_free(locals);
	for (i = 0; i < 100; i++)
		assert_int_equal(fiber_key_delete(key[i]), 0);
}

static void test_locals_setting_null_makes_no_table(void **state)
{
	struct fib_locals *locals = NULL;
	fiber_key_t key = key_new(NULL);

	(void)state;
	assert_int_equal(fib_locals_set(&locals, key, NULL), 0);
	assert_null(locals);
	assert_int_equal(fiber_key_delete(key), 0);
}

static void test_locals_a_deleted_key_is_refused_and_its_value_not_inherited(void **state)
{
	struct fib_locals *locals = NULL;
	fiber_key_t before = key_new(NULL), after;

	(void)state;
	assert_int_equal(fib_locals_set(&locals, before, &one), 0);
	assert_int_equal(fiber_key_delete(before), 0);
	assert_int_equal(fiber_key_delete(before), -EINVAL);
	assert_int_equal(fib_locals_set(&locals, before, &two), -EINVAL);
	after = key_new(NULL);
	assert_int_equal(after % FIB_KEYS_MAX, before % FIB_KEYS_MAX); /* the same slot */
	assert_int_not_equal(after, before);
	assert_null(fib_locals_get(locals, after));
	assert_int_equal(fib_locals_set(&locals, after, &two), 0);
	assert_ptr_equal(fib_locals_get(locals, after), &two);
	assert_null(fib_locals_get(locals, before));
	fib_locals_free(locals);
	assert_int_equal(fiber_key_delete(after), 0);
}

static void test_locals_numbers_that_are_no_keys_are_refused(void **state)
{
	const fiber_key_t bad[] = {0, 1, FIB_KEYS_MAX - 1, FIB_KEYS_MAX, UINT32_MAX};
	struct fib_locals *locals = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(fib_locals_set(&locals, bad[i], &one), -EINVAL);
		assert_int_equal(fiber_key_delete(bad[i]), -EINVAL);
		assert_null(fib_locals_get(locals, bad[i]));
	}
	assert_null(locals);
}

static void test_locals_keys_run_out_and_come_back(void **state)
{
	static fiber_key_t key[FIB_KEYS_MAX];
	fiber_key_t more = 77;
	size_t i;

	(void)state;
	for (i = 0; i < FIB_KEYS_MAX; i++)
		key[i] = key_new(NULL);
	assert_int_equal(fiber_key_create(&more, NULL), -EAGAIN);
	assert_int_equal(more, 77);
	assert_int_equal(fiber_key_delete(key[500]), 0);
	assert_int_equal(fiber_key_create(&key[500], NULL), 0);
	for (i = 0; i < FIB_KEYS_MAX; i++)
		assert_int_equal(fiber_key_delete(key[i]), 0);
}

static void test_locals_presets_are_all_or_nothing(void **state)
{
	fiber_key_t a = key_new(NULL), b = key_new(NULL);
	const struct fiber_local good[] = {{a, &one}, {b, &two}, {a, &two}};
	const struct fiber_local bad[] = {{a, &one}, {0, &two}};
	struct fib_locals *locals = NULL, *untouched = (void *)&one;

	(void)state;
	assert_int_equal(fib_locals_preset(good, 3, &locals), 0);
	assert_ptr_equal(fib_locals_get(locals, a), &two); /* the last value that was set */
	assert_ptr_equal(fib_locals_get(locals, b), &two);
	fib_locals_free(locals);
	assert_int_equal(fib_locals_preset(bad, 2, &untouched), -EINVAL);
	assert_ptr_equal(untouched, &one);
	assert_int_equal(fib_locals_preset(NULL, 0, &locals), 0);
	assert_null(locals);
	assert_int_equal(fiber_key_delete(a), 0);
	assert_int_equal(fiber_key_delete(b), 0);
}

static void test_locals_next_gives_each_value_with_a_destructor_once(void **state)
{
	fiber_key_t a = key_new(nothing), b = key_new(NULL), c = key_new(other), d = key_new(other);
	struct fib_locals *locals = NULL;
	void (*destroy)(void *);
	void *value;

	(void)state;
	assert_int_equal(fib_locals_set(&locals, a, &one), 0);
	assert_int_equal(fib_locals_set(&locals, b, &one), 0);
	assert_int_equal(fib_locals_set(&locals, c, &two), 0);
	assert_int_equal(fib_locals_set(&locals, d, &two), 0);
	assert_int_equal(fiber_key_delete(d), 0); /* its values are dropped */
	assert_true(fib_locals_next(locals, &destroy, &value));
	assert_true(destroy == nothing && value == &one);
	assert_null(fib_locals_get(locals, a)); /* it was already removed for its destructor */
	assert_true(fib_locals_next(locals, &destroy, &value));
	assert_true(destroy == other && value == &two);
	assert_false(fib_locals_next(locals, &destroy, &value));
	assert_ptr_equal(fib_locals_get(locals, b), &one);
	fib_locals_free(locals);
	assert_int_equal(fiber_key_delete(a), 0);
	assert_int_equal(fiber_key_delete(b), 0);
	assert_int_equal(fiber_key_delete(c), 0);
}

static void test_locals_next_ends_after_four_rounds(void **state)
{
	fiber_key_t key = key_new(nothing);
	struct fib_locals *locals = NULL;
	void (*destroy)(void *);
	unsigned times = 0;
	void *value;

	(void)state;
	assert_int_equal(fib_locals_set(&locals, key, &one), 0);
	while (fib_locals_next(locals, &destroy, &value) && times < 100) {
		times++;
		assert_int_equal(fib_locals_set(&locals, key, &one), 0);
	}
	assert_int_equal(times, FIB_KEY_ROUNDS);
	fib_locals_free(locals);
	assert_int_equal(fiber_key_delete(key), 0);
}

/* -- threads that make and delete keys at once -- */

static _Atomic unsigned twice;
static _Atomic unsigned char owned[FIB_KEYS_MAX];

static void *make_and_delete(void *arg)
{
	fiber_key_t key[8];
	unsigned i, k;

	(void)arg;
	for (i = 0; i < 2000; i++) {
		for (k = 0; k < 8; k++) {
			if (fiber_key_create(&key[k], nothing) < 0)
				abort();
			if (atomic_exchange(&owned[key[k] % FIB_KEYS_MAX], 1))
				twice++;
		}
		for (k = 0; k < 8; k++) {
			atomic_store(&owned[key[k] % FIB_KEYS_MAX], 0);
			if (fiber_key_delete(key[k]) < 0)
				twice++;
		}
	}
	return NULL;
}

static void test_locals_threads_never_get_the_same_slot(void **state)
{
	pthread_t thread[4];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, make_and_delete, NULL), 0);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(twice, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locals_none_are_null),
		cmocka_unit_test(test_locals_keep_each_key_apart),
		cmocka_unit_test(test_locals_setting_null_makes_no_table),
		cmocka_unit_test(test_locals_a_deleted_key_is_refused_and_its_value_not_inherited),
		cmocka_unit_test(test_locals_numbers_that_are_no_keys_are_refused),
		cmocka_unit_test(test_locals_keys_run_out_and_come_back),
		cmocka_unit_test(test_locals_presets_are_all_or_nothing),
		cmocka_unit_test(test_locals_next_gives_each_value_with_a_destructor_once),
		cmocka_unit_test(test_locals_next_ends_after_four_rounds),
		cmocka_unit_test(test_locals_threads_never_get_the_same_slot),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
