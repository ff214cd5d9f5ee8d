/* SPDX-License-Identifier: MIT */
/* test_table.c - one entry for each descriptor number, the same for all callers and for good */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <pthread.h>

#include "io/table.h"

static void test_table_knows_nothing_until_an_entry_is_made(void **state)
{
	struct fib_descriptor *d;

	(void)state;
	assert_null(fib_descriptor_find(5000));
	d = fib_descriptor_make(5000);
	assert_non_null(d);
	assert_ptr_equal(fib_descriptor_find(5000), d);
	assert_ptr_equal(fib_descriptor_make(5000), d);
	assert_int_equal(fib_load(&d->generation), 0);
	assert_ptr_not_equal(fib_descriptor_make(5001), d);
}

static void test_table_has_no_entry_for_what_is_no_number(void **state)
{
	(void)state;
	assert_null(fib_descriptor_make(-1));
	assert_null(fib_descriptor_find(-1));
	assert_null(fib_descriptor_make(INT_MAX));
	assert_false(fib_descriptor_possible(-1));
	assert_false(fib_descriptor_possible(INT_MAX));
	assert_true(fib_descriptor_possible(0));
	/* The highest number that Linux gives unless fs.nr_open was raised. */
	assert_non_null(fib_descriptor_make(1024 * 1024 - 1));
}

static void *make(void *arg)
{
	return fib_descriptor_make(*(int *)arg);
}

static void test_table_gives_threads_that_make_one_at_the_same_time_the_same(void **state)
{
	pthread_t threads[4];
	void *first, *entry;
	int fd, i;

	(void)state;
	for (fd = 100000; fd < 400000; fd += 1024) {
		for (i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, make, &fd), 0);
		assert_int_equal(pthread_join(threads[0], &first), 0);
		assert_non_null(first);
		for (i = 1; i < 4; i++) {
			assert_int_equal(pthread_join(threads[i], &entry), 0);
			assert_ptr_equal(entry, first);
		}
	}
}

static void test_table_forgets_what_was_known_and_keeps_the_entries(void **state)
{
	struct fib_descriptor *d = fib_descriptor_make(3);

	(void)state;
	fib_store(&d->generation, 7);
	fib_descriptor_forget_all();
	assert_ptr_equal(fib_descriptor_find(3), d);
	assert_int_equal(fib_load(&d->generation), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_knows_nothing_until_an_entry_is_made),
		cmocka_unit_test(test_table_has_no_entry_for_what_is_no_number),
		cmocka_unit_test(test_table_gives_threads_that_make_one_at_the_same_time_the_same),
		cmocka_unit_test(test_table_forgets_what_was_known_and_keeps_the_entries),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
