/* SPDX-License-Identifier: MIT */
/* test_deadlock.c - findings, which of them last, and what a second reading removes */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness/inspect/waiting.h"

static struct waiting now, before;
static struct ins_deadlocks *found;

static int begin(void **state)
{
	(void)state;
	now = waiting_new();
	before = waiting_new();
	found = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_deadlocks_free(found);
	waiting_free(&now);
	waiting_free(&before);
	return 0;
}

/* Make one reading and check the numbers of findings. */
static void find(size_t count, size_t lasting)
{
	waiting_graph(&now);
	assert_int_equal(ins_deadlocks_find(now.graph, NULL, 0, &found), 0);
	assert_int_equal(ins_deadlocks_count(found), count);
	assert_int_equal(ins_deadlocks_lasting(found), lasting);
}

/* Make two readings and check that `count` findings are left. */
static void confirm(size_t count)
{
	struct ins_deadlocks *first;

	waiting_graph(&now);
	waiting_graph(&before);
	assert_int_equal(ins_deadlocks_find(before.graph, NULL, 0, &first), 0);
	assert_int_equal(ins_deadlocks_find(now.graph, first, 0, &found), 0);
	ins_deadlocks_free(first);
	assert_int_equal(ins_deadlocks_count(found), count);
}

static const struct ins_deadlock *at(size_t i)
{
	return ins_deadlocks_at(found, i);
}

static uint64_t id(const struct ins_deadlock *d, size_t i)
{
	assert_true(i < d->count);
	return ins_graph_at(now.graph, d->fibers[i])->id;
}

static void test_a_cycle_is_told_from_its_lowest_fiber_in_the_order_of_waiting(void **state)
{
	(void)state;
	waiting_lock(&now, 5, 1, 9);
	waiting_lock(&now, 9, 2, 7);
	waiting_join(&now, 7, 0, 5);
	waiting_lock(&now, 1, 2, 7);
	waiting_lock(&now, 2, 3, 1);
	find(1, 1);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_CYCLE);
	assert_int_equal(at(0)->count, 3);
	assert_int_equal(id(at(0), 0), 5);
	assert_int_equal(id(at(0), 1), 9);
	assert_int_equal(id(at(0), 2), 7);
	assert_int_equal(at(0)->behind, 2);
	assert_true(at(0)->deadline == INT64_MAX);
	assert_false(ins_deadlocks_fleeting(found));
}

static void test_a_cycle_with_a_deadline_does_not_last(void **state)
{
	struct ins_fiber fiber = waiting_for(2, FIB_WAIT_MUTEX, 2, 1);

	(void)state;
	waiting_lock(&now, 1, 1, 2);
	fiber.row.deadline = 7777;
	waiting_put(&now, &fiber);
	find(1, 0);
	assert_false(at(0)->lasting);
	assert_true(at(0)->deadline == 7777);
}

static void test_a_fiber_that_waits_for_itself_is_a_self_lock(void **state)
{
	struct ins_fiber fiber = waiting_for(3, FIB_WAIT_ONCE, 3, 3);

	(void)state;
	waiting_lock(&now, 1, 1, 1);
	waiting_lock(&now, 2, 1, 1);
	waiting_put(&now, &fiber);
	find(2, 2);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_SELF);
	assert_int_equal(id(at(0), 0), 1);
	assert_int_equal(at(0)->behind, 1);
	assert_int_equal(id(at(1), 0), 3);
	assert_true(ins_deadlocks_fleeting(found));
}

static void test_a_lock_of_one_that_has_ended_is_lost_for_all_who_wait(void **state)
{
	struct ins_fiber fiber = waiting_for(4, FIB_WAIT_RWLOCK_READ, 2, 99);

	(void)state;
	waiting_dead(&now, 1);
	waiting_lock(&now, 2, 1, 1);
	waiting_lock(&now, 3, 2, 99); /* fiber 99 does not exist */
	fiber.row.deadline = 7777;    /* this fiber will time out, but the lock stays lost */
	waiting_put(&now, &fiber);
	waiting_lock(&now, 5, 3, 4);
	waiting_join(&now, 6, 0, 1); /* about to continue */
	find(2, 2);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_ORPHAN);
	assert_int_equal(at(0)->holder, 99);
	assert_int_equal(at(0)->object, 0x2000);
	assert_int_equal(at(0)->count, 2);
	assert_int_equal(at(0)->behind, 1);
	assert_int_equal(at(1)->holder, 1);
	assert_int_equal(id(at(1), 0), 2);
}

static void *own_number(void *arg)
{
	*(pid_t *)arg = gettid();
	return NULL;
}

static void test_a_threads_lock_is_lost_only_when_the_thread_has_ended(void **state)
{
	pthread_t thread;
	pid_t tid = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, own_number, &tid), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	waiting_lock(&now, 1, 1, FIB_HOLDER_THREAD | (uint64_t)gettid());
	waiting_lock(&now, 2, 1, FIB_HOLDER_THREAD | (uint64_t)gettid());
	waiting_lock(&now, 3, 2, FIB_HOLDER_THREAD | (uint64_t)tid);
	waiting_graph(&now);
	do { /* the kernel may take a moment to remove the thread */
		ins_deadlocks_free(found);
		assert_int_equal(ins_deadlocks_find(now.graph, NULL, getpid(), &found), 0);
	} while (!ins_deadlocks_lasting(found));
	assert_int_equal(ins_deadlocks_count(found), 2);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_ORPHAN);
	assert_int_equal(id(at(0), 0), 3);
	assert_int_equal(at(1)->kind, INS_DEADLOCK_THREAD);
	assert_int_equal(at(1)->count, 2);
	assert_false(at(1)->lasting);
	/* A core's threads are unknown. */
	ins_deadlocks_free(found);
	assert_int_equal(ins_deadlocks_find(now.graph, NULL, 0, &found), 0);
	assert_int_equal(ins_deadlocks_lasting(found), 0);
	assert_int_equal(ins_deadlocks_count(found), 2);
}

/* A parent 1 in a group wait, its child 2, and their child 3, which joins the grandparent. */
static void family(unsigned kind, int64_t deadline, unsigned childs_kind)
{
	struct ins_fiber fiber = waiting_for(1, kind, 5, 0);

	fiber.row.deadline = deadline;
	waiting_put(&now, &fiber);
	fiber = waiting_for(2, childs_kind, 6, 0);
	fiber.row.parent = 1;
	waiting_put(&now, &fiber);
	waiting_join(&now, 3, 2, 1);
	waiting_lock(&now, 4, 1, 1);
}

static void test_a_join_on_an_ancestor_lasts_when_no_descendant_can_go_on(void **state)
{
	(void)state;
	family(FIB_WAIT_GROUP, INT64_MAX, FIB_WAIT_WAITGROUP);
	find(1, 1);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_ANCESTOR);
	assert_int_equal(at(0)->count, 2);
	assert_int_equal(id(at(0), 0), 3);
	assert_int_equal(id(at(0), 1), 1);
	assert_int_equal(at(0)->behind, 1);
}

static void test_a_join_on_an_ancestor_is_suspect_when_a_descendant_can_go_on(void **state)
{
	(void)state;
	family(FIB_WAIT_GROUP, INT64_MAX, FIB_WAIT_SLEEP);
	find(1, 0);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_ANCESTOR);
}

static void test_a_join_on_an_ancestor_is_suspect_when_that_waits_for_something_else(void **state)
{
	(void)state;
	family(FIB_WAIT_PARK, INT64_MAX, FIB_WAIT_GROUP);
	find(1, 0);
}

static void test_a_join_on_an_ancestor_with_a_deadline_does_not_last(void **state)
{
	(void)state;
	family(FIB_WAIT_GROUP, 7777, FIB_WAIT_GROUP);
	find(1, 0);
	assert_true(at(0)->deadline == 7777);
}

static void test_a_join_on_an_ancestor_that_joins_back_is_a_cycle_only(void **state)
{
	(void)state;
	waiting_join(&now, 1, 0, 2);
	waiting_join(&now, 2, 1, 1);
	find(1, 1);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_CYCLE);
}

static void test_a_join_on_a_stranger_or_a_child_is_nothing(void **state)
{
	(void)state;
	waiting_free_one(&now, 1, 2);
	waiting_join(&now, 2, 0, 1);
	waiting_free_one(&now, 3, 0);
	waiting_join(&now, 4, 2, 3);
	find(0, 0);
}

static void test_what_lasts_comes_first_then_what_stops_most(void **state)
{
	uint64_t i;

	(void)state;
	waiting_lock(&now, 1, 1, FIB_HOLDER_THREAD | 7);
	for (i = 10; i < 20; i++)
		waiting_lock(&now, i, 2, 1);
	waiting_lock(&now, 20, 3, 20);
	waiting_lock(&now, 30, 4, 31);
	waiting_lock(&now, 31, 5, 30);
	find(3, 2);
	assert_int_equal(at(0)->kind, INS_DEADLOCK_CYCLE);
	assert_int_equal(at(1)->kind, INS_DEADLOCK_SELF);
	assert_int_equal(at(2)->kind, INS_DEADLOCK_THREAD);
	assert_int_equal(at(2)->behind, 10);
}

/* -- two readings -- */

static void cross(struct waiting *w, uint64_t seq, uint64_t object)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, object, 2);

	fiber.row.seq = seq;
	waiting_put(w, &fiber);
	waiting_lock(w, 2, 7, 1);
}

static void test_a_cycle_that_stood_still_is_confirmed(void **state)
{
	(void)state;
	cross(&before, 10, 3);
	cross(&now, 10, 3);
	confirm(1);
}

static void test_a_cycle_of_which_one_ran_is_not_confirmed(void **state)
{
	(void)state;
	cross(&before, 8, 3);
	cross(&now, 10, 3);
	confirm(0);
	/* The sequence number is the same after it wrapped around, but the lock is another. */
	end(state);
	begin(state);
	cross(&before, 10, 4);
	cross(&now, 10, 3);
	confirm(0);
}

/* A holder spawned after the first reading started is only in the second one. */
static void test_a_holder_that_appears_in_the_second_reading_is_alive(void **state)
{
	(void)state;
	waiting_lock(&before, 1, 1, 50);
	waiting_lock(&now, 1, 1, 50);
	waiting_free_one(&now, 50, 0);
	confirm(0);
}

static void test_a_holder_that_was_alive_before_is_not_confirmed(void **state)
{
	(void)state;
	waiting_lock(&before, 1, 1, 50);
	waiting_free_one(&before, 50, 0);
	waiting_lock(&now, 1, 1, 50);
	confirm(0);
}

static void test_a_lost_lock_is_confirmed_by_one_who_waited_for_it_before(void **state)
{
	(void)state;
	waiting_lock(&before, 1, 1, 50);
	waiting_lock(&now, 1, 1, 50);
	waiting_lock(&now, 2, 1, 50);
	confirm(1);
	assert_int_equal(at(0)->count, 2);
}

/* A finding that was removed once must be confirmed anew. */
static void test_three_readings_have_to_agree(void **state)
{
	struct ins_deadlocks *first, *second;

	(void)state;
	waiting_free_one(&before, 1, 0);
	cross(&now, 10, 3);
	waiting_graph(&now);
	waiting_graph(&before);
	assert_int_equal(ins_deadlocks_find(before.graph, NULL, 0, &first), 0);
	assert_int_equal(ins_deadlocks_find(now.graph, first, 0, &second), 0);
	assert_int_equal(ins_deadlocks_count(second), 0);
	assert_int_equal(ins_deadlocks_find(now.graph, second, 0, &found), 0);
	assert_int_equal(ins_deadlocks_count(found), 0);
	ins_deadlocks_free(first);
	ins_deadlocks_free(second);
}

/* The sequence numbers of pinned fibers do not move. One fiber that is not pinned is enough. */
static void test_a_cycle_of_pinned_fibers_only_is_fleeting(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (uint64_t i = 1; i <= 4; i++) {
		fiber = waiting_for(i, FIB_WAIT_MUTEX, i, i % 2 ? i + 1 : i - 1);
		if (i != 4)
			fiber.row.carrier = (uint16_t)i;
		waiting_put(i < 3 ? &now : &before, &fiber);
	}
	find(1, 1);
	assert_true(ins_deadlocks_fleeting(found));
	ins_deadlocks_free(found);
	waiting_graph(&before);
	assert_int_equal(ins_deadlocks_find(before.graph, NULL, 0, &found), 0);
	assert_int_equal(ins_deadlocks_count(found), 1);
	assert_false(ins_deadlocks_fleeting(found));
}

static void test_nothing_is_found_in_nothing(void **state)
{
	(void)state;
	find(0, 0);
	assert_ptr_equal(ins_deadlocks_graph(found), now.graph);
	assert_false(ins_deadlocks_fleeting(found));
	ins_deadlocks_free(NULL);
}

#define DEADLOCK_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEADLOCK_TEST(test_a_cycle_is_told_from_its_lowest_fiber_in_the_order_of_waiting),
		DEADLOCK_TEST(test_a_cycle_with_a_deadline_does_not_last),
		DEADLOCK_TEST(test_a_fiber_that_waits_for_itself_is_a_self_lock),
		DEADLOCK_TEST(test_a_lock_of_one_that_has_ended_is_lost_for_all_who_wait),
		DEADLOCK_TEST(test_a_threads_lock_is_lost_only_when_the_thread_has_ended),
		DEADLOCK_TEST(test_a_join_on_an_ancestor_lasts_when_no_descendant_can_go_on),
		DEADLOCK_TEST(test_a_join_on_an_ancestor_is_suspect_when_a_descendant_can_go_on),
		DEADLOCK_TEST(
			test_a_join_on_an_ancestor_is_suspect_when_that_waits_for_something_else),
		DEADLOCK_TEST(test_a_join_on_an_ancestor_with_a_deadline_does_not_last),
		DEADLOCK_TEST(test_a_join_on_an_ancestor_that_joins_back_is_a_cycle_only),
		DEADLOCK_TEST(test_a_join_on_a_stranger_or_a_child_is_nothing),
		DEADLOCK_TEST(test_what_lasts_comes_first_then_what_stops_most),
		DEADLOCK_TEST(test_a_cycle_that_stood_still_is_confirmed),
		DEADLOCK_TEST(test_a_cycle_of_which_one_ran_is_not_confirmed),
		DEADLOCK_TEST(test_a_holder_that_appears_in_the_second_reading_is_alive),
		DEADLOCK_TEST(test_a_holder_that_was_alive_before_is_not_confirmed),
		DEADLOCK_TEST(test_a_lost_lock_is_confirmed_by_one_who_waited_for_it_before),
		DEADLOCK_TEST(test_three_readings_have_to_agree),
		DEADLOCK_TEST(test_a_cycle_of_pinned_fibers_only_is_fleeting),
		DEADLOCK_TEST(test_nothing_is_found_in_nothing),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
