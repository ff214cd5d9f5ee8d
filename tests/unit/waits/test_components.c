/* SPDX-License-Identifier: MIT */
/* test_components.c - components of a graph, compared with searching from every node */
#include <stdlib.h>

#include "inspect/waits/components.h"
#include "tests/harness/inspect/head.h"

#define MOST 12

static struct ins_edges edges;
static struct ins_components found;

/* Make the graph of the edges in `has`. */
static void make(size_t n, bool has[MOST][MOST])
{
	size_t count = 0;

	edges.count = n;
	edges.first = calloc(n + 1, sizeof *edges.first);
	edges.to = calloc(n * n + 1, sizeof *edges.to);
	for (size_t i = 0; i < n; i++) {
		edges.first[i] = count;
		for (size_t k = 0; k < n; k++)
			if (has[i][k])
				edges.to[count++] = k;
	}
	edges.first[n] = count;
}

static void drop(void)
{
	ins_components_free(&found);
	free(edges.first);
	free(edges.to);
}

/* Whether a path of at least one edge leads from each node to each other one. */
static void close_paths(size_t n, bool has[MOST][MOST], const bool *without, bool path[MOST][MOST])
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			path[i][k] = has[i][k] && !without[i] && !without[k];
	for (size_t m = 0; m < n; m++)
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++)
				path[i][k] |= path[i][m] && path[m][k];
}

static void compare(size_t n, bool has[MOST][MOST], const bool *without)
{
	bool path[MOST][MOST];

	close_paths(n, has, without, path);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(found.of[i] == SIZE_MAX, without[i]);
		if (without[i])
			continue;
		assert_int_equal(found.round[found.of[i]], path[i][i]);
		for (size_t k = 0; k < n; k++) {
			if (without[k])
				continue;
			assert_int_equal(found.of[i] == found.of[k],
					 i == k || (path[i][k] && path[k][i]));
			if (has[i][k])
				assert_true(found.of[k] <= found.of[i]);
		}
	}
}

static void test_random_graphs_have_the_components_of_their_paths(void **state)
{
	bool has[MOST][MOST], without[MOST];

	(void)state;
	srand(4712);
	for (unsigned round = 0; round < 3000; round++) {
		const size_t n = (size_t)rand() % (MOST + 1);

		for (size_t i = 0; i < n; i++) {
			without[i] = rand() % 8 == 0;
			for (size_t k = 0; k < n; k++)
				has[i][k] = rand() % 6 == 0;
		}
		make(n, has);
		assert_int_equal(ins_components_find(&edges, without, &found), 0);
		compare(n, has, without);
		drop();
	}
}

/* A hundred thousand nodes that lead to one, which leads to all of them: each edge is seen once. */
static void test_the_steps_are_linear_in_nodes_and_edges(void **state)
{
	const size_t n = 100000;

	(void)state;
	edges.count = n + 1;
	edges.first = calloc(n + 2, sizeof *edges.first);
	edges.to = calloc(2 * n, sizeof *edges.to);
	for (size_t i = 0; i < n; i++) {
		edges.first[i] = i;
		edges.to[i] = n;
		edges.to[n + i] = i;
	}
	edges.first[n] = n;
	edges.first[n + 1] = 2 * n;
	assert_int_equal(ins_components_find(&edges, NULL, &found), 0);
	assert_int_equal(found.count, 1);
	assert_true(found.round[0]);
	assert_int_equal(found.steps, n + 1 + 2 * n);
	drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs_have_the_components_of_their_paths),
		cmocka_unit_test(test_the_steps_are_linear_in_nodes_and_edges),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
