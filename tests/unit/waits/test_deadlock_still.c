/* SPDX-License-Identifier: MIT */
/* test_deadlock_still.c - the finding that all fibers wait, beside others and in two readings */
#include "tests/harness/inspect/waiting.h"

static struct waiting now, before;
static struct ins_deadlocks *found, *first;

static int begin(void **state)
{
	(void)state;
	now = waiting_new();
	before = waiting_new();
	found = first = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_deadlocks_free(found);
	ins_deadlocks_free(first);
	waiting_free(&now);
	waiting_free(&before);
	return 0;
}

static void put(struct waiting *w, uint64_t id, unsigned kind, uint64_t seq)
{
	struct ins_fiber fiber = waiting_for(id, kind, id, 0);

	fiber.row.seq = seq;
	waiting_put(w, &fiber);
}

static void find(size_t count)
{
	waiting_graph(&now);
	assert_int_equal(ins_deadlocks_find(now.graph, NULL, 0, &found), 0);
	ins_deadlocks_add_still(found, NULL);
	assert_int_equal(ins_deadlocks_count(found), count);
}

/* The same in two readings. */
static void confirm(size_t count)
{
	waiting_graph(&before);
	assert_int_equal(ins_deadlocks_find(before.graph, NULL, 0, &first), 0);
	ins_deadlocks_add_still(first, NULL);
	waiting_graph(&now);
	assert_int_equal(ins_deadlocks_find(now.graph, first, 0, &found), 0);
	ins_deadlocks_add_still(found, first);
	assert_int_equal(ins_deadlocks_count(found), count);
}

static void test_all_fibers_that_wait_are_in_it(void **state)
{
	const struct ins_deadlock *d;

	(void)state;
	put(&now, 1, FIB_WAIT_SEM, 2);
	put(&now, 2, FIB_WAIT_PARK, 2);
	waiting_lock(&now, 3, 3, 1);
	waiting_dead(&now, 4);
	find(1);
	d = ins_deadlocks_at(found, 0);
	assert_int_equal(d->kind, INS_DEADLOCK_STILL);
	assert_true(d->lasting);
	assert_int_equal(d->count, 3);
	assert_int_equal(d->deadline, INT64_MAX);
	assert_int_equal(ins_deadlocks_lasting(found), 1);
	assert_true(ins_deadlocks_fleeting(found));
}

static void test_it_is_left_out_if_each_wait_is_explained(void **state)
{
	(void)state;
	waiting_lock(&now, 1, 1, 2);
	waiting_lock(&now, 2, 2, 1);
	waiting_lock(&now, 3, 2, 1);  /* behind the cycle */
	waiting_lock(&now, 4, 4, 99); /* its holder has exited */
	waiting_lock(&now, 5, 5, 4);
	waiting_dead(&now, 6);
	find(2);
	assert_false(ins_deadlocks_unexplained(found));
}

static void test_it_comes_after_its_causes(void **state)
{
	(void)state;
	put(&now, 1, FIB_WAIT_SEM, 2);
	waiting_lock(&now, 2, 1, 3);
	waiting_lock(&now, 3, 2, 2);
	find(2);
	assert_int_equal(ins_deadlocks_at(found, 0)->kind, INS_DEADLOCK_CYCLE);
	assert_int_equal(ins_deadlocks_at(found, 1)->kind, INS_DEADLOCK_STILL);
	assert_int_equal(ins_deadlocks_at(found, 1)->count, 3);
}

static void test_a_finding_that_may_end_explains_nothing(void **state)
{
	(void)state;
	waiting_lock(&now, 1, 1, FIB_HOLDER_THREAD | 77);
	find(2);
	assert_int_equal(ins_deadlocks_at(found, 0)->kind, INS_DEADLOCK_STILL);
}

static void test_a_second_reading_without_change_keeps_it(void **state)
{
	(void)state;
	put(&before, 1, FIB_WAIT_SEM, 2);
	put(&now, 1, FIB_WAIT_SEM, 2);
	confirm(1);
}

static void test_a_fiber_that_ran_in_between_removes_it(void **state)
{
	(void)state;
	put(&before, 1, FIB_WAIT_SEM, 2);
	put(&before, 2, FIB_WAIT_SEM, 2);
	put(&now, 1, FIB_WAIT_SEM, 2);
	put(&now, 2, FIB_WAIT_SEM, 4);
	confirm(0);
}

static void test_a_new_fiber_removes_it(void **state)
{
	(void)state;
	put(&before, 1, FIB_WAIT_SEM, 2);
	put(&now, 1, FIB_WAIT_SEM, 2);
	put(&now, 2, FIB_WAIT_SEM, 2);
	confirm(0);
}

#define STILL_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STILL_TEST(test_all_fibers_that_wait_are_in_it),
		STILL_TEST(test_it_is_left_out_if_each_wait_is_explained),
		STILL_TEST(test_it_comes_after_its_causes),
		STILL_TEST(test_a_finding_that_may_end_explains_nothing),
		STILL_TEST(test_a_second_reading_without_change_keeps_it),
		STILL_TEST(test_a_fiber_that_ran_in_between_removes_it),
		STILL_TEST(test_a_new_fiber_removes_it),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
