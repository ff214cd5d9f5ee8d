/* SPDX-License-Identifier: MIT */
/* test_one_moment.c - which deadlocks a single reading proves */
#include <fiber/fiber.h>

#include "inspect/waits/one_moment.h"
#include "inspect/waits/stillness.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

#define TOOK INT64_C(1000000)
#define MOST 3

static struct ins_fiber fibers[MOST];
static size_t count;
static int64_t sampled;

static int give(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		void *context, struct ins_summary *ret, struct ins_error *error)
{
	int rc = 0;

	(void)source;
	(void)request;
	(void)error;
	ret->sampled_ns = sampled;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = fn(context, &fibers[i]);
	return rc;
}

static const struct ins_source_ops ops = {.read = give};

/* Fiber `id` waits for what `holder` holds. */
static struct ins_fiber *waits(uint64_t id, uint64_t holder, int64_t age)
{
	struct ins_fiber *f = &fibers[count++];

	*f = rows_fiber(id, "f");
	f->row.id = id;
	f->row.state = FIBER_SUSPENDED;
	f->row.carrier = FIB_ROW_CARRIER_NONE;
	f->row.wait_kind = FIB_WAIT_MUTEX;
	f->row.wait_object = 4096 + id;
	f->row.holder = holder;
	f->row.deadline = INT64_MAX;
	f->row.age = age;
	f->flags = id & FIB_HOLDER_THREAD ? INS_FIBER_THREAD : 0;
	return f;
}

/* Whether the only finding lasts after the doubts. */
static bool lasts(void)
{
	struct ins_source source = {.kind = "snapshot", .ops = &ops};
	const struct ins_request request = {0};
	struct ins_error error = {""};
	struct ins_deadlocks *found;
	struct ins_graph *graph;
	struct ins_table *table;
	bool ret;

	assert_int_equal(ins_table_read(&source, &request, &error, &table), 0);
	assert_int_equal(ins_graph_new(table, &graph), 0);
	assert_int_equal(ins_deadlocks_find(graph, NULL, 0, &found), 0);
	assert_int_equal(ins_deadlocks_count(found), 1);
	ins_deadlocks_doubt(found);
	ret = ins_deadlocks_lasting(found) == 1;
	assert_int_equal(ins_deadlocks_at(found, 0)->lasting, ret);
	if (!ret)
		assert_int_equal(ins_deadlocks_lasting(found), 0);
	ins_deadlocks_free(found);
	ins_graph_free(graph);
	ins_table_free(table);
	return ret;
}

static int begin(void **state)
{
	(void)state;
	count = 0;
	sampled = TOOK;
	return 0;
}

static void test_waits_that_are_longer_than_the_reading_are_proof(void **state)
{
	(void)state;
	waits(1, 2, TOOK + INS_AGE_MOMENT + 1);
	waits(2, 1, TOOK + INS_AGE_MOMENT + 1);
	assert_true(lasts());
	fibers[1].row.age = TOOK + INS_AGE_MOMENT;
	assert_false(lasts());
	/* A core is of one moment. */
	sampled = 0;
	assert_true(lasts());
}

static void test_a_thread_that_slept_the_whole_time_is_proof(void **state)
{
	(void)state;
	waits(1, FIB_HOLDER_THREAD | 7, INT64_C(1) << 40);
	waits(FIB_HOLDER_THREAD | 7, 1, 0);
	assert_false(lasts());
	fibers[1].flags |= INS_FIBER_SLEPT;
	assert_true(lasts());
}

static void test_a_fiber_that_seems_to_wait_for_itself_may_be_given_the_lock(void **state)
{
	(void)state;
	waits(1, 1, INS_SELF_LONG - 1);
	assert_false(lasts());
	fibers[0].row.age = INS_SELF_LONG;
	assert_true(lasts());
	fibers[0].row.age = 0;
	fibers[0].flags |= INS_FIBER_SLEPT;
	assert_true(lasts());
}

static void test_in_a_core_nothing_may_run_that_could_give_a_lock(void **state)
{
	struct ins_fiber *other;

	(void)state;
	sampled = 0;
	waits(1, 1, 0);
	assert_true(lasts());
	other = waits(2, 0, 0);
	other->row.state = FIBER_RUNNING;
	other->row.carrier = 0;
	other->row.wait_kind = FIB_WAIT_NONE;
	assert_false(lasts());
	/* It sleeps in a lock of the system. */
	other->row.wait_kind = FIB_WAIT_PINNED;
	other->row.holder = FIB_HOLDER_THREAD | 9;
	assert_true(lasts());
	other->row.state = FIBER_RUNNABLE;
	assert_false(lasts());
}

static void test_a_holder_that_is_not_sure_lasts_only_if_all_fibers_are_stuck(void **state)
{
	(void)state;
	sampled = 0;
	waits(1, FIB_HOLDER_THREAD | 7, 0);
	waits(FIB_HOLDER_THREAD | 7, 1, 0)->flags |= INS_FIBER_UNSURE;
	assert_true(lasts());
	/* One more fiber that waits behind them, and then one that does not. */
	waits(2, 1, 0);
	assert_true(lasts());
	fibers[2].row.holder = 0;
	assert_false(lasts());
}

static void test_with_such_a_holder_all_waits_must_be_long(void **state)
{
	const int64_t old = TOOK + INS_AGE_MOMENT + 1;

	(void)state;
	waits(1, FIB_HOLDER_THREAD | 7, old);
	waits(FIB_HOLDER_THREAD | 7, 1, 0)->flags |= INS_FIBER_UNSURE | INS_FIBER_SLEPT;
	waits(2, 1, old);
	assert_true(lasts());
	fibers[2].row.age = 0;
	assert_false(lasts());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, begin)
		TEST(test_waits_that_are_longer_than_the_reading_are_proof),
		TEST(test_a_thread_that_slept_the_whole_time_is_proof),
		TEST(test_a_fiber_that_seems_to_wait_for_itself_may_be_given_the_lock),
		TEST(test_in_a_core_nothing_may_run_that_could_give_a_lock),
		TEST(test_a_holder_that_is_not_sure_lasts_only_if_all_fibers_are_stuck),
		TEST(test_with_such_a_holder_all_waits_must_be_long),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
