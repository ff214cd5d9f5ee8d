/* SPDX-License-Identifier: MIT */
/* test_graph.c - edges, cycles and fibers behind a node, compared with following every path */
#include <stdlib.h>

#include "tests/harness/inspect/waiting.h"

static void test_edges_lead_to_holders_and_to_joined_fibers(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_lock(&w, 30, 1, 10);
	waiting_join(&w, 20, 0, 30);
	waiting_free_one(&w, 10, 0);
	waiting_graph(&w);
	assert_int_equal(ins_graph_at(w.graph, waiting_node(&w, 30)->to)->id, 10);
	assert_int_equal(ins_graph_at(w.graph, waiting_node(&w, 20)->to)->id, 30);
	assert_true(waiting_node(&w, 10)->to == INS_NOBODY);
	assert_int_equal(waiting_node(&w, 20)->holder, 30);
	assert_int_equal(waiting_node(&w, 10)->behind, 2);
	assert_int_equal(waiting_node(&w, 30)->behind, 1);
	assert_int_equal(ins_graph_at(w.graph, waiting_node(&w, 20)->root)->id, 10);
	assert_int_equal(ins_graph_cycles(w.graph), 0);
	waiting_free(&w);
}

static void test_threads_strangers_and_nobody_end_a_way(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_lock(&w, 1, 1, FIB_HOLDER_THREAD | 2); /* 2 is also the number of a fiber */
	waiting_lock(&w, 2, 2, 99);
	waiting_lock(&w, 3, 3, 0);
	waiting_join(&w, 4, 0, FIB_ROW_UNKNOWN);
	waiting_graph(&w);
	for (uint64_t id = 1; id <= 4; id++)
		assert_true(waiting_node(&w, id)->to == INS_NOBODY);
	assert_false(ins_node_orphaned(w.graph, waiting_node(&w, 1)));
	assert_true(ins_node_orphaned(w.graph, waiting_node(&w, 2)));
	assert_false(ins_node_orphaned(w.graph, waiting_node(&w, 3)));
	assert_int_equal(waiting_node(&w, 4)->holder, 0);
	waiting_free(&w);
}

static void test_a_fiber_that_has_ended_keeps_its_locks_and_not_its_joiner(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_dead(&w, 1);
	waiting_lock(&w, 2, 1, 1);
	waiting_join(&w, 3, 0, 1);
	waiting_graph(&w);
	assert_int_equal(ins_graph_at(w.graph, waiting_node(&w, 2)->to)->id, 1);
	assert_true(ins_node_orphaned(w.graph, waiting_node(&w, 2)));
	assert_true(waiting_node(&w, 3)->to == INS_NOBODY);
	assert_false(ins_node_orphaned(w.graph, waiting_node(&w, 3)));
	waiting_free(&w);
}

static void test_a_fiber_that_waits_for_itself_is_a_cycle_of_one(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_lock(&w, 1, 1, 1);
	waiting_lock(&w, 2, 1, 1);
	waiting_graph(&w);
	assert_int_equal(ins_graph_cycles(w.graph), 1);
	assert_int_equal(waiting_node(&w, 1)->cycle, 0);
	assert_true(waiting_node(&w, 2)->cycle == INS_NOBODY);
	assert_int_equal(waiting_node(&w, 1)->behind, 1);
	waiting_free(&w);
}

static void test_what_the_system_gives_is_not_waited_for_from_others(void **state)
{
	static const unsigned none[] = {FIB_WAIT_NONE,	  FIB_WAIT_YIELD, FIB_WAIT_SLEEP,
					FIB_WAIT_PARK,	  FIB_WAIT_FD,	  FIB_WAIT_TIMER,
					FIB_WAIT_OFFLOAD, FIB_WAIT_OP,	  FIB_WAIT_PINNED};
	static const unsigned some[] = {
		FIB_WAIT_JOIN,	       FIB_WAIT_MUTEX,	   FIB_WAIT_RWLOCK_READ, FIB_WAIT_COND,
		FIB_WAIT_RWLOCK_WRITE, FIB_WAIT_SEM,	   FIB_WAIT_EVENT,	 FIB_WAIT_BARRIER,
		FIB_WAIT_ONCE,	       FIB_WAIT_WAITGROUP, FIB_WAIT_GROUP,	 FIB_WAIT_SELECT,
		FIB_WAIT_CHAN_SEND,    FIB_WAIT_CHAN_RECV};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_false(
			ins_node_waits(&(struct ins_node){.kind = (uint8_t)none[i], .object = 1}));
	for (i = 0; i < sizeof some / sizeof some[0]; i++)
		assert_true(
			ins_node_waits(&(struct ins_node){.kind = (uint8_t)some[i], .object = 1}));
}

#define MOST 24

/* Whether a path leads from `from` to `at`. to[i]: the node that i waits for, or n. */
static bool reaches(const size_t *to, size_t n, size_t from, size_t at)
{
	for (size_t steps = 0; steps <= n && from < n; steps++) {
		from = to[from];
		if (from == at)
			return true;
	}
	return false;
}

/* Whether k is behind i and, if i is on a cycle, enters the cycle at i. */
static bool behind_of(const size_t *to, size_t n, size_t k, size_t i)
{
	if (k == i || !reaches(to, n, k, i))
		return false;
	while (k != i && !reaches(to, n, k, k))
		k = to[k];
	return k == i;
}

static void compare(const struct waiting *w, const size_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ins_node *const node = ins_graph_at(w->graph, i);
		const bool round = reaches(to, n, i, i);
		size_t behind = 0, root = i, steps, count;

		for (size_t k = 0; k < n; k++)
			behind += behind_of(to, n, k, i);
		assert_int_equal(node->behind, behind);
		assert_int_equal(node->cycle != INS_NOBODY, round);
		for (steps = 0; steps < n && to[root] < n; steps++)
			root = to[root];
		/* The root of a cycle is its lowest node. */
		if (reaches(to, n, root, root))
			for (size_t k = 0; k < n; k++)
				if (reaches(to, n, root, k)) {
					root = k;
					break;
				}
		assert_int_equal(node->root, root);
		if (round)
			assert_int_equal(ins_graph_members(w->graph, node->cycle, &count)[0], root);
	}
}

static void test_random_graphs_agree_with_following_every_way(void **state)
{
	size_t to[MOST], cycles = 0;

	(void)state;
	srand(4711);
	for (unsigned round = 0; round < 3000; round++) {
		const size_t n = 1 + (size_t)rand() % MOST;
		struct waiting w = waiting_new();

		for (size_t i = 0; i < n; i++) {
			to[i] = rand() % 4 ? (size_t)rand() % n : n;
			if (to[i] == n)
				waiting_free_one(&w, i + 1, 0);
			else if (rand() % 2)
				waiting_lock(&w, i + 1, i + 1, to[i] + 1);
			else
				waiting_join(&w, i + 1, 0, to[i] + 1);
		}
		waiting_graph(&w);
		assert_int_equal(ins_graph_count(w.graph), n);
		compare(&w, to, n);
		cycles += ins_graph_cycles(w.graph);
		waiting_free(&w);
	}
	assert_true(cycles > 1000);
}

static void test_a_line_and_a_ring_of_a_hundred_thousand_are_no_burden(void **state)
{
	const uint64_t n = 100000;

	(void)state;
	for (int ring = 0; ring < 2; ring++) {
		struct waiting w = waiting_new();

		for (uint64_t id = n; id > 0; id--)
			waiting_lock(&w, id, id, id > 1 ? id - 1 : ring ? n : 0);
		waiting_graph(&w);
		assert_int_equal(ins_graph_cycles(w.graph), ring);
		assert_int_equal(waiting_node(&w, 1)->behind, ring ? 0 : n - 1);
		assert_int_equal(waiting_node(&w, n)->root, 0);
		waiting_free(&w);
	}
}

static void test_an_empty_table_has_an_empty_graph(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_graph(&w);
	assert_int_equal(ins_graph_count(w.graph), 0);
	assert_int_equal(ins_graph_cycles(w.graph), 0);
	assert_ptr_equal(ins_graph_table(w.graph), w.table);
	waiting_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_lead_to_holders_and_to_joined_fibers),
		cmocka_unit_test(test_threads_strangers_and_nobody_end_a_way),
		cmocka_unit_test(test_a_fiber_that_has_ended_keeps_its_locks_and_not_its_joiner),
		cmocka_unit_test(test_a_fiber_that_waits_for_itself_is_a_cycle_of_one),
		cmocka_unit_test(test_what_the_system_gives_is_not_waited_for_from_others),
		cmocka_unit_test(test_random_graphs_agree_with_following_every_way),
		cmocka_unit_test(test_a_line_and_a_ring_of_a_hundred_thousand_are_no_burden),
		cmocka_unit_test(test_an_empty_table_has_an_empty_graph),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
