/* SPDX-License-Identifier: MIT */
/* test_graph_readers.c - the graph of waits with rwlocks that several fibers hold for reading */
#include <stdlib.h>

#include "tests/harness/inspect/waiting.h"

#define LOCKS 4
#define MOST  12

static struct waiting w;

static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	waiting_free(&w);
	return 0;
}

/* -- a fiber each -- */

static void put(struct ins_fiber fiber, uint64_t reads)
{
	if (reads)
		waiting_read(&fiber, reads);
	waiting_put(&w, &fiber);
}

static uint64_t id_of(size_t i)
{
	return ins_graph_at(w.graph, i)->id;
}

static void test_a_writer_waits_for_all_readers_and_follows_the_stuck_one(void **state)
{
	static const uint64_t who[] = {1, 2, 3};
	const struct ins_node *writer;

	(void)state;
	put(waiting_for(1, FIB_WAIT_SLEEP, 0, 0), 1);
	put(waiting_for(2, FIB_WAIT_MUTEX, 2, 5), 1);
	put(waiting_for(3, FIB_WAIT_SLEEP, 0, 0), 1);
	put(waiting_for_readers(4, true, 1, waiting_readers(who, 3)), 0);
	put(waiting_for(5, FIB_WAIT_MUTEX, 3, 5), 0); /* waits for itself */
	put(waiting_for(6, FIB_WAIT_MUTEX, 4, 4), 0);
	waiting_graph(&w);
	writer = waiting_node(&w, 4);
	assert_int_equal(id_of(writer->to), 2);
	assert_int_equal(writer->holder, 2);
	assert_int_equal(id_of(writer->root), 5);
	assert_true(writer->cycle == INS_NOBODY);
	assert_int_equal(ins_graph_read_lock(w.graph, 3)->count, 3);
	assert_null(ins_graph_read_lock(w.graph, 5));
	assert_int_equal(waiting_node(&w, 1)->behind, 0);
	assert_int_equal(waiting_node(&w, 2)->behind, 2);
	assert_int_equal(waiting_node(&w, 5)->behind, 3);
}

static void test_a_reader_that_reads_again_waits_for_the_writer(void **state)
{
	static const uint64_t who[] = {1};

	(void)state;
	put(waiting_for_readers(1, false, 1, waiting_readers(who, 1)), 1);
	put(waiting_for_readers(2, true, 1, waiting_readers(who, 1)), 0);
	put(waiting_for_readers(3, false, 1, waiting_readers(who, 1)), 0);
	waiting_graph(&w);
	assert_int_equal(ins_graph_cycles(w.graph), 1);
	assert_true(ins_graph_ring(w.graph, 0));
	assert_int_equal(id_of(waiting_node(&w, 1)->to), 2);
	assert_int_equal(id_of(waiting_node(&w, 2)->to), 1);
	assert_int_equal(id_of(waiting_node(&w, 3)->to), 2);
	assert_true(waiting_node(&w, 3)->cycle == INS_NOBODY);
	assert_true(waiting_node(&w, 1)->lasts);
}

static void test_readers_that_all_want_to_write_are_one_cycle(void **state)
{
	static const uint64_t who[] = {1, 2, 3};
	const size_t *members;
	size_t n;

	(void)state;
	for (uint64_t id = 1; id <= 3; id++)
		put(waiting_for_readers(id, true, 1, waiting_readers(who, 3)), 1);
	waiting_graph(&w);
	assert_int_equal(ins_graph_cycles(w.graph), 1);
	assert_false(ins_graph_ring(w.graph, 0));
	members = ins_graph_members(w.graph, 0, &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(members[i], i);
}

static void test_a_cycle_lasts_if_it_is_there_without_those_with_a_deadline(void **state)
{
	static const uint64_t who[] = {1, 2};
	struct ins_fiber fiber;

	(void)state;
	put(waiting_for_readers(1, true, 1, waiting_readers(who, 2)), 1);
	fiber = waiting_for_readers(2, true, 1, waiting_readers(who, 2));
	fiber.row.deadline = 5;
	put(fiber, 1);
	waiting_lock(&w, 3, 3, 4);
	fiber = waiting_for(4, FIB_WAIT_MUTEX, 4, 3);
	fiber.row.deadline = 5;
	put(fiber, 0);
	waiting_graph(&w);
	assert_int_equal(ins_graph_cycles(w.graph), 2);
	assert_true(waiting_node(&w, 1)->lasts); /* for itself */
	assert_false(waiting_node(&w, 2)->lasts);
	assert_false(waiting_node(&w, 3)->lasts);
}

static void test_a_reader_that_has_exited_is_the_holder(void **state)
{
	static const uint64_t who[] = {1, 2}, thread[] = {FIB_HOLDER_THREAD | 77};

	(void)state;
	put(waiting_for(1, FIB_WAIT_SLEEP, 0, 0), 1);
	put(waiting_for_readers(3, true, 1, waiting_readers(who, 2)), 0);
	put(waiting_for_readers(4, true, 2, waiting_readers(thread, 1)), 0);
	waiting_graph(&w);
	assert_int_equal(waiting_node(&w, 3)->holder, 2);
	assert_true(ins_node_orphaned(w.graph, waiting_node(&w, 3)));
	assert_true(waiting_node(&w, 4)->holder == thread[0]);
	assert_false(ins_node_orphaned(w.graph, waiting_node(&w, 4)));
}

/* -- random graphs -- */

struct plan {
	size_t n;
	bool reads[MOST][LOCKS];
	size_t wants[MOST]; /* writes that lock; LOCKS: none */
	size_t joins[MOST]; /* else joins that fiber; n: none */
};

static void make_plan(struct plan *p)
{
	p->n = 1 + (size_t)rand() % MOST;
	for (size_t i = 0; i < p->n; i++) {
		size_t slots = 0;

		for (size_t k = 0; k < LOCKS; k++) {
			p->reads[i][k] = slots < FIB_ROW_READS && rand() % 3 == 0;
			slots += p->reads[i][k];
		}
		p->wants[i] = (size_t)rand() % (2 * LOCKS);
		p->joins[i] = (size_t)rand() % (2 * p->n);
		if (p->wants[i] > LOCKS)
			p->wants[i] = LOCKS;
		if (p->joins[i] > p->n)
			p->joins[i] = p->n;
	}
}

static void build(const struct plan *p)
{
	uint64_t who[LOCKS][MOST];
	size_t count[LOCKS] = {0};

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < LOCKS; k++)
			if (p->reads[i][k])
				who[k][count[k]++] = i + 1;
	for (size_t i = 0; i < p->n; i++) {
		struct ins_fiber fiber = waiting_for(i + 1, FIB_WAIT_SLEEP, 0, 0);
		const size_t k = p->wants[i];

		if (k < LOCKS && count[k])
			fiber = waiting_for_readers(i + 1, true, k + 1,
						    waiting_readers(who[k], count[k]));
		else if (p->joins[i] < p->n)
			fiber = waiting_for(i + 1, FIB_WAIT_MUTEX, 100 + i, p->joins[i] + 1);
		for (size_t j = 0; j < LOCKS; j++)
			if (p->reads[i][j])
				waiting_read(&fiber, j + 1);
		waiting_put(&w, &fiber);
	}
	waiting_graph(&w);
}

/* Whether fiber i waits for fiber k. */
static bool waits_for(const struct plan *p, size_t i, size_t k)
{
	bool read = false;

	for (size_t m = 0; p->wants[i] < LOCKS && m < p->n; m++)
		read |= p->reads[m][p->wants[i]];
	return read ? p->reads[k][p->wants[i]] : p->joins[i] == k;
}

static void compare(const struct plan *p)
{
	bool path[MOST][MOST];
	uint64_t outside = 0, behind = 0;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->n; k++)
			path[i][k] = waits_for(p, i, k);
	for (size_t m = 0; m < p->n; m++)
		for (size_t i = 0; i < p->n; i++)
			for (size_t k = 0; k < p->n; k++)
				path[i][k] |= path[i][m] && path[m][k];
	for (size_t i = 0; i < p->n; i++) {
		const struct ins_node *node = ins_graph_at(w.graph, i);
		bool stuck = false;

		assert_int_equal(node->cycle != INS_NOBODY, path[i][i]);
		assert_int_equal(node->lasts, path[i][i]);
		for (size_t k = 0; k < p->n; k++) {
			stuck |= path[i][k] && path[k][k];
			if (path[i][i] && path[k][k])
				assert_int_equal(node->cycle == ins_graph_at(w.graph, k)->cycle,
						 path[i][k] && path[k][i]);
		}
		/* The path leads into a cycle if any does, and along waits. */
		assert_int_equal(ins_graph_at(w.graph, node->root)->cycle != INS_NOBODY, stuck);
		if (node->to != INS_NOBODY)
			assert_true(waits_for(p, i, node->to));
		if (node->root == i || path[i][i]) {
			behind += node->behind;
			outside += !path[i][i];
		}
	}
	/* Each fiber is behind one root or in one cycle, or is one. */
	for (size_t i = 0; i < p->n; i++)
		outside += path[i][i];
	assert_int_equal(behind + outside, p->n);
}

static void test_random_graphs_agree_with_all_paths(void **state)
{
	struct plan p;
	size_t cycles = 0;

	(void)state;
	srand(4713);
	waiting_graph(&w);
	for (unsigned round = 0; round < 3000; round++) {
		waiting_free(&w);
		w = waiting_new();
		make_plan(&p);
		build(&p);
		compare(&p);
		cycles += ins_graph_cycles(w.graph);
	}
	assert_true(cycles > 1000);
}

/* Half of a hundred thousand fibers read one lock, and the others want to write it. */
static void test_many_writers_behind_many_readers_take_linear_steps(void **state)
{
	const uint64_t n = 50000;
	uint64_t *who = calloc(n, sizeof *who), word;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		who[i] = i + 1;
	word = waiting_readers(who, n);
	for (uint64_t i = 1; i <= n; i++)
		put(waiting_for(i, FIB_WAIT_SLEEP, 0, 0), 1);
	for (uint64_t i = 1; i <= n; i++)
		put(waiting_for_readers(n + i, true, 1, word), 0);
	waiting_graph(&w);
	free(who);
	assert_int_equal(ins_graph_read_lock(w.graph, n)->count, n);
	assert_int_equal(waiting_node(&w, 1)->behind, n);
	/* Rows, nodes, one edge for each fiber, and once more the readers. */
	assert_true(ins_graph_steps(w.graph) <= 2 * n + (2 * n + 1) + 2 * n + n);
}

#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_a_writer_waits_for_all_readers_and_follows_the_stuck_one),
		GRAPH_TEST(test_a_reader_that_reads_again_waits_for_the_writer),
		GRAPH_TEST(test_readers_that_all_want_to_write_are_one_cycle),
		GRAPH_TEST(test_a_cycle_lasts_if_it_is_there_without_those_with_a_deadline),
		GRAPH_TEST(test_a_reader_that_has_exited_is_the_holder),
		GRAPH_TEST(test_random_graphs_agree_with_all_paths),
		GRAPH_TEST(test_many_writers_behind_many_readers_take_linear_steps),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
