/* SPDX-License-Identifier: MIT */
/* test_distribution.c - minimum, median and maximum equal those from sorting by hand */
#include <stdlib.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/text/distribution.h"

static void test_nothing_has_no_numbers(void **state)
{
	struct ins_distribution s = {0};

	(void)state;
	ins_distribution_settle(&s);
	assert_int_equal(s.count, 0);
	assert_true(s.min == 0 && s.median == 0 && s.max == 0);
	ins_distribution_drop(&s);
}

static void test_one_number_is_all_three(void **state)
{
	struct ins_distribution s = {0};

	(void)state;
	assert_int_equal(ins_distribution_add(&s, -7), 0);
	ins_distribution_settle(&s);
	assert_true(s.min == -7 && s.median == -7 && s.max == -7);
	ins_distribution_drop(&s);
}

static void test_of_an_even_count_the_lower_middle_is_the_median(void **state)
{
	static const int64_t numbers[] = {40, INT64_MIN, INT64_MAX, 10};
	struct ins_distribution s = {0};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ins_distribution_add(&s, numbers[i]), 0);
	ins_distribution_settle(&s);
	assert_true(s.min == INT64_MIN && s.median == 10 && s.max == INT64_MAX);
	ins_distribution_drop(&s);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_any_numbers_in_any_order(void **state)
{
	static int64_t numbers[1000];
	uint64_t seed = 3;

	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		struct ins_distribution s = {0};
		size_t count = 1 + dice(&seed, 1000), i;
		const unsigned below = 1 + dice(&seed, 2000);

		for (i = 0; i < count; i++) {
			numbers[i] = (int64_t)dice(&seed, below) - 500;
			assert_int_equal(ins_distribution_add(&s, numbers[i]), 0);
		}
		qsort(numbers, count, sizeof numbers[0], by_number);
		ins_distribution_settle(&s);
		assert_int_equal(s.count, count);
		assert_true(s.min == numbers[0] && s.max == numbers[count - 1]);
		assert_true(s.median == numbers[(count - 1) / 2]);
		ins_distribution_drop(&s);
	}
}

static void test_more_may_come_after_the_median_was_found(void **state)
{
	struct ins_distribution s = {0};

	(void)state;
	for (int i = 9; i > 0; i--) {
		assert_int_equal(ins_distribution_add(&s, i), 0);
		ins_distribution_settle(&s);
		assert_true(s.min == i && s.median == (i + 9) / 2 && s.max == 9);
	}
	ins_distribution_drop(&s);
	assert_true(s.min == 1 && s.median == 5 && s.max == 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_has_no_numbers),
		cmocka_unit_test(test_one_number_is_all_three),
		cmocka_unit_test(test_of_an_even_count_the_lower_middle_is_the_median),
		cmocka_unit_test(test_any_numbers_in_any_order),
		cmocka_unit_test(test_more_may_come_after_the_median_was_found),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
