/* SPDX-License-Identifier: MIT */
/* test_spans.c - of spans that overlap, the larger kind stays whole */
#include "inspect/leaks/spans.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"

static void expect(struct ins_spans *s, uint64_t address, int kind, uint32_t index)
{
	const struct ins_span *found = ins_spans_find(s, address);

	if (kind < 0) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(found->kind, kind);
	assert_int_equal(found->index, index);
}

static void test_a_larger_kind_cuts_a_smaller_one(void **state)
{
	struct ins_spans s = {0};

	(void)state;
	assert_int_equal(ins_spans_add(&s, 100, 200, 0, 1), 0);
	assert_int_equal(ins_spans_add(&s, 120, 140, 1, 2), 0);
	assert_int_equal(ins_spans_add(&s, 130, 135, 2, 3), 0);
	assert_int_equal(ins_spans_settle(&s, 3), 0);
	expect(&s, 99, -1, 0);
	expect(&s, 100, 0, 1);
	expect(&s, 119, 0, 1);
	expect(&s, 120, 1, 2);
	expect(&s, 130, 2, 3);
	expect(&s, 135, 1, 2);
	expect(&s, 140, 0, 1);
	expect(&s, 199, 0, 1);
	expect(&s, 200, -1, 0);
	ins_spans_drop(&s);
}

static void test_of_one_kind_the_one_that_begins_first_stays_whole(void **state)
{
	struct ins_spans s = {0};

	(void)state;
	ins_spans_add(&s, 150, 250, 1, 2);
	ins_spans_add(&s, 100, 200, 1, 1);
	ins_spans_add(&s, 160, 170, 1, 3);
	assert_int_equal(ins_spans_settle(&s, 2), 0);
	expect(&s, 165, 1, 1);
	expect(&s, 200, 1, 2);
	expect(&s, 249, 1, 2);
	ins_spans_drop(&s);
}

static void test_nothing_is_in_no_spans(void **state)
{
	struct ins_spans s = {0};

	(void)state;
	assert_int_equal(ins_spans_add(&s, 5, 5, 0, 0), 0);
	assert_int_equal(ins_spans_settle(&s, 1), 0);
	expect(&s, 5, -1, 0);
	ins_spans_drop(&s);
}

/* Random spans of three kinds give at each address what the definition says. */
static void test_random_spans_are_found_as_defined(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct ins_spans s = {0};
		int want[128];

		memset(want, -1, sizeof want);
		for (uint32_t i = 0; i < 12; i++) {
			const uint64_t start = (uint64_t)rand() % 128, kind = (uint64_t)rand() % 3;
			const uint64_t end = start + (uint64_t)rand() % (128 - start);

			ins_spans_add(&s, start, end, (uint32_t)kind, i);
			for (uint64_t a = start; a < end; a++)
				want[a] = want[a] < (int)kind ? (int)kind : want[a];
		}
		assert_int_equal(ins_spans_settle(&s, 3), 0);
		for (uint64_t a = 0; a < 128; a++) {
			const struct ins_span *found = ins_spans_find(&s, a);

			assert_int_equal(found ? (int)found->kind : -1, want[a]);
		}
		for (size_t i = 1; i < s.count; i++)
			assert_true(s.at[i - 1].end <= s.at[i].start);
		ins_spans_drop(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_larger_kind_cuts_a_smaller_one),
		cmocka_unit_test(test_of_one_kind_the_one_that_begins_first_stays_whole),
		cmocka_unit_test(test_nothing_is_in_no_spans),
		cmocka_unit_test(test_random_spans_are_found_as_defined),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
