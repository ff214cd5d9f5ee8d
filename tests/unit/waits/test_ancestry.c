/* SPDX-License-Identifier: MIT */
/* test_ancestry.c - descendants, compared with following the parents */
#include <stdlib.h>

#include "inspect/waits/ancestry.h"
#include "tests/harness/inspect/waiting.h"

#define MOST 24

static bool descends(const size_t *parent, size_t n, size_t i, size_t from)
{
	while ((i = parent[i]) < n)
		if (i == from)
			return true;
	return false;
}

static void test_random_families_agree_with_going_up(void **state)
{
	size_t parent[MOST];
	bool marked[MOST];

	(void)state;
	srand(4711);
	for (unsigned round = 0; round < 2000; round++) {
		const size_t n = 1 + (size_t)rand() % MOST;
		const bool falling = rand() % 2; /* a child may have a lower id */
		struct ins_ancestry *a;
		struct waiting w = waiting_new();

		for (size_t i = 0; i < n; i++) {
			const size_t older = falling ? n - 1 - i : i;

			parent[i] = older && rand() % 5 ? (size_t)rand() % older : n;
			if (falling && parent[i] < n)
				parent[i] = n - 1 - parent[i];
			/* A parent that does not exist has no children. */
			waiting_free_one(&w, i + 1, parent[i] < n ? parent[i] + 1 : n + 7);
		}
		waiting_graph(&w);
		assert_int_equal(ins_ancestry_new(w.graph, &a), 0);
		for (size_t i = 0; i < n; i++) {
			marked[i] = rand() % 2;
			if (marked[i])
				ins_ancestry_mark(a, i);
		}
		for (size_t i = 0; i < n; i++) {
			size_t count = 0;

			for (size_t k = 0; k < n; k++) {
				assert_int_equal(ins_ancestry_descends(a, k, i),
						 descends(parent, n, k, i));
				count += marked[k] && descends(parent, n, k, i);
			}
			assert_int_equal(ins_ancestry_marked(a, i), count);
		}
		ins_ancestry_free(a);
		waiting_free(&w);
	}
}

static void test_parents_that_go_round_are_nobodys(void **state)
{
	struct waiting w = waiting_new();
	struct ins_ancestry *a;

	(void)state;
	waiting_free_one(&w, 1, 2);
	waiting_free_one(&w, 2, 1);
	waiting_free_one(&w, 3, 3);
	waiting_free_one(&w, 4, 2);
	waiting_free_one(&w, 5, 0);
	waiting_graph(&w);
	assert_int_equal(ins_ancestry_new(w.graph, &a), 0);
	for (size_t i = 0; i < 5; i++)
		ins_ancestry_mark(a, i);
	for (size_t i = 0; i < 5; i++) {
		for (size_t k = 0; k < 5; k++)
			assert_false(ins_ancestry_descends(a, i, k));
		assert_int_equal(ins_ancestry_marked(a, i), 0);
	}
	ins_ancestry_free(a);
	ins_ancestry_free(NULL);
	waiting_free(&w);
}

static void test_a_line_of_a_hundred_thousand_is_no_burden(void **state)
{
	const size_t n = 100000;
	struct waiting w = waiting_new();
	struct ins_ancestry *a;

	(void)state;
	for (uint64_t id = 1; id <= n; id++)
		waiting_free_one(&w, id, id - 1);
	waiting_graph(&w);
	assert_int_equal(ins_ancestry_new(w.graph, &a), 0);
	for (size_t i = 0; i < n; i++)
		ins_ancestry_mark(a, i);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ins_ancestry_marked(a, i), n - 1 - i);
	assert_true(ins_ancestry_descends(a, n - 1, 0));
	assert_false(ins_ancestry_descends(a, 0, n - 1));
	ins_ancestry_free(a);
	waiting_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_families_agree_with_going_up),
		cmocka_unit_test(test_parents_that_go_round_are_nobodys),
		cmocka_unit_test(test_a_line_of_a_hundred_thousand_is_no_burden),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
