/* SPDX-License-Identifier: MIT */
/* test_queues.c - waits by holder and object, in order */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/waiting.h"

static struct ins_queues *queues_of(struct waiting *w)
{
	struct ins_queues *ret;

	waiting_graph(w);
	assert_int_equal(ins_queues_new(w->graph, NULL, &ret), 0);
	return ret;
}

static void test_holders_that_stop_most_come_first(void **state)
{
	struct waiting w = waiting_new();
	const struct ins_holder *h;
	struct ins_queues *q;

	(void)state;
	waiting_free_one(&w, 1, 0);
	waiting_lock(&w, 2, 1, 1);
	waiting_lock(&w, 3, 1, 1);
	waiting_free_one(&w, 10, 0);
	waiting_lock(&w, 11, 2, 10);
	waiting_lock(&w, 12, 3, 11);
	waiting_lock(&w, 13, 3, 11);
	q = queues_of(&w);
	assert_int_equal(ins_queues_holders(q), 3);
	assert_int_equal(ins_queues_waiting(q), 5);
	h = ins_queues_holder(q, 0); /* one waiter, and two behind it */
	assert_int_equal(h->id, 10);
	assert_int_equal(h->waiting, 1);
	assert_int_equal(h->behind, 2);
	h = ins_queues_holder(q, 1); /* as many as the next holder: the lower id comes first */
	assert_int_equal(h->id, 1);
	assert_int_equal(h->waiting, 2);
	assert_int_equal(h->behind, 0);
	assert_int_equal(ins_queues_holder(q, 2)->id, 11);
	ins_queues_free(q);
	waiting_free(&w);
}

static void test_a_holders_queues_are_by_object_and_kind_the_longest_first(void **state)
{
	struct waiting w = waiting_new();
	const struct ins_holder *h;
	struct ins_fiber fiber;
	struct ins_queues *q;

	(void)state;
	waiting_free_one(&w, 1, 0);
	waiting_lock(&w, 2, 1, 1);
	for (uint64_t id = 3; id < 6; id++) {
		fiber = waiting_for(id, FIB_WAIT_RWLOCK_READ, 2, 1);
		fiber.row.age = (int64_t)(10 - id);
		waiting_put(&w, &fiber);
	}
	fiber = waiting_for(6, FIB_WAIT_RWLOCK_WRITE, 2, 1);
	waiting_put(&w, &fiber);
	q = queues_of(&w);
	assert_int_equal(ins_queues_holders(q), 1);
	h = ins_queues_holder(q, 0);
	assert_int_equal(h->queue_count, 3);
	assert_int_equal(h->queues[0].kind, FIB_WAIT_RWLOCK_READ);
	assert_int_equal(h->queues[0].count, 3);
	assert_int_equal(h->queues[0].age_min, 5);
	assert_int_equal(h->queues[0].age_max, 7);
	assert_int_equal(ins_graph_at(w.graph, h->queues[0].fibers[2])->id, 5);
	assert_int_equal(h->queues[1].object, 0x1000);
	assert_int_equal(h->queues[2].kind, FIB_WAIT_RWLOCK_WRITE);
	ins_queues_free(q);
	waiting_free(&w);
}

static void test_what_nobody_is_known_to_hold_is_one_of_them(void **state)
{
	struct waiting w = waiting_new();
	const struct ins_holder *h;
	struct ins_fiber fiber;
	struct ins_queues *q;

	(void)state;
	for (uint64_t id = 1; id < 5; id++) {
		fiber = waiting_for(id, FIB_WAIT_SEM, 1 + id % 2, 0);
		waiting_put(&w, &fiber);
	}
	fiber = waiting_for(5, FIB_WAIT_FD, 0, 0);
	waiting_put(&w, &fiber);
	q = queues_of(&w);
	assert_int_equal(ins_queues_holders(q), 1);
	h = ins_queues_holder(q, 0);
	assert_int_equal(h->id, 0);
	assert_true(h->at == INS_NOBODY);
	assert_int_equal(h->waiting, 4);
	assert_int_equal(h->queue_count, 2);
	ins_queues_free(q);
	waiting_free(&w);
}

static void test_waits_that_do_not_count_are_in_no_queue_but_behind(void **state)
{
	bool meant[5] = {false, true, false, false, true};
	struct waiting w = waiting_new();
	const struct ins_holder *h;
	struct ins_queues *q;

	(void)state;
	waiting_free_one(&w, 1, 0);
	waiting_lock(&w, 2, 1, 1);
	waiting_lock(&w, 3, 1, 1);
	waiting_lock(&w, 4, 2, 2);
	waiting_lock(&w, 5, 3, 4);
	waiting_graph(&w);
	assert_int_equal(ins_queues_new(w.graph, meant, &q), 0);
	assert_int_equal(ins_queues_holders(q), 2);
	assert_int_equal(ins_queues_waiting(q), 2);
	assert_int_equal(ins_queues_all(q), 4);
	h = ins_queues_holder(q, 0);
	assert_int_equal(h->id, 1);
	assert_int_equal(h->waiting, 1);
	assert_int_equal(h->behind, 2);
	assert_int_equal(ins_graph_at(w.graph, h->queues[0].fibers[0])->id, 2);
	assert_int_equal(ins_queues_holder(q, 1)->id, 4);
	ins_queues_free(q);
	memset(meant, 0, sizeof meant);
	assert_int_equal(ins_queues_new(w.graph, meant, &q), 0);
	assert_int_equal(ins_queues_holders(q), 0);
	ins_queues_free(q);
	waiting_free(&w);
}

static void test_nothing_has_no_holders(void **state)
{
	struct waiting w = waiting_new();
	struct ins_queues *q = queues_of(&w);

	(void)state;
	assert_int_equal(ins_queues_holders(q), 0);
	assert_int_equal(ins_queues_waiting(q), 0);
	assert_ptr_equal(ins_queues_graph(q), w.graph);
	ins_queues_free(q);
	ins_queues_free(NULL);
	waiting_free(&w);
}

/* In any graph, each waiting fiber is in one queue, that of its holder and object. */
static void test_random_waits_are_each_in_the_queue_of_theirs(void **state)
{
	(void)state;
	srand(4711);
	for (unsigned round = 0; round < 500; round++) {
		const uint64_t n = 1 + (uint64_t)rand() % 40;
		struct waiting w = waiting_new();
		uint64_t last = UINT64_MAX;
		struct ins_queues *q;
		size_t waits = 0, seen = 0;

		for (uint64_t id = 1; id <= n; id++) {
			const bool locks = rand() % 3;

			if (locks)
				waiting_lock(&w, id, 1 + (uint64_t)rand() % 9,
					     (uint64_t)rand() % (n + 3));
			else
				waiting_free_one(&w, id, 0);
			waits += locks;
		}
		q = queues_of(&w);
		assert_int_equal(ins_queues_waiting(q), waits);
		for (size_t i = 0; i < ins_queues_holders(q); i++) {
			const struct ins_holder *const h = ins_queues_holder(q, i);

			assert_true(h->waiting + h->behind <= last);
			last = h->waiting + h->behind;
			for (size_t k = 0; k < h->queue_count; k++)
				for (size_t m = 0; m < h->queues[k].count; m++, seen++) {
					const struct ins_node *const node =
						ins_graph_at(w.graph, h->queues[k].fibers[m]);

					assert_int_equal(node->holder, h->id);
					assert_int_equal(node->object, h->queues[k].object);
				}
		}
		assert_int_equal(seen, waits);
		ins_queues_free(q);
		waiting_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holders_that_stop_most_come_first),
		cmocka_unit_test(test_a_holders_queues_are_by_object_and_kind_the_longest_first),
		cmocka_unit_test(test_what_nobody_is_known_to_hold_is_one_of_them),
		cmocka_unit_test(test_waits_that_do_not_count_are_in_no_queue_but_behind),
		cmocka_unit_test(test_nothing_has_no_holders),
		cmocka_unit_test(test_random_waits_are_each_in_the_queue_of_theirs),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
