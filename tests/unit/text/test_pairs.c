/* SPDX-License-Identifier: MIT */
/* test_pairs.c - each pair has one number */
#include <stdlib.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/pairs.h"

static void test_pairs_are_numbered_as_they_come(void **state)
{
	struct ins_pairs p = {0};
	size_t number = 9;

	(void)state;
	assert_int_equal(ins_pairs_add(&p, 0, 0, &number), 1);
	assert_int_equal(number, 0);
	assert_int_equal(ins_pairs_add(&p, 0, UINT64_MAX, &number), 1);
	assert_int_equal(number, 1);
	assert_int_equal(ins_pairs_add(&p, UINT64_MAX, 0, NULL), 1);
	assert_int_equal(ins_pairs_add(&p, 0, 0, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(ins_pairs_add(&p, UINT64_MAX, 0, &number), 0);
	assert_int_equal(number, 2);
	assert_int_equal(p.count, 3);
	ins_pairs_drop(&p);
	assert_int_equal(p.count, 0);
}

static void test_many_pairs_keep_their_numbers(void **state)
{
	struct ins_pairs p = {0};
	size_t number, i;

	(void)state;
	for (i = 0; i < 30000; i++)
		assert_int_equal(ins_pairs_add(&p, i % 100, i / 100, NULL), 1);
	for (i = 0; i < 30000; i++) {
		assert_int_equal(ins_pairs_add(&p, i % 100, i / 100, &number), 0);
		assert_int_equal(number, i);
	}
	ins_pairs_drop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_are_numbered_as_they_come),
		cmocka_unit_test(test_many_pairs_keep_their_numbers),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
