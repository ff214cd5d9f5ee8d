/* SPDX-License-Identifier: MIT */
/* test_deadlock_threads.c - threads beside fibers in the graph, and in deadlocks */
#include "inspect/waits/stillness.h"
#include "tests/harness/inspect/waiting.h"

#define THREAD(tid) (FIB_HOLDER_THREAD | (tid))

static struct waiting w;
static struct ins_deadlocks *found;

static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_deadlocks_free(found);
	found = NULL;
	waiting_free(&w);
	return 0;
}

/* A thread that waits for a lock in this way. */
static void put_thread(uint64_t tid, unsigned kind, uint64_t object, uint64_t holder)
{
	struct ins_fiber row = waiting_for(THREAD(tid), kind, object, holder);

	row.flags = INS_FIBER_THREAD;
	row.row.age = 0;
	waiting_put(&w, &row);
}

static void find(size_t count, size_t lasting)
{
	waiting_graph(&w);
	assert_int_equal(ins_deadlocks_find(w.graph, NULL, 0, &found), 0);
	assert_int_equal(ins_deadlocks_count(found), count);
	assert_int_equal(ins_deadlocks_lasting(found), lasting);
}

static void test_a_fiber_and_a_thread_are_a_cycle(void **state)
{
	const struct ins_deadlock *d;

	(void)state;
	waiting_lock(&w, 7, 1, THREAD(7));
	put_thread(7, FIB_WAIT_MUTEX, 2, 7);
	find(1, 1);
	d = ins_deadlocks_at(found, 0);
	assert_int_equal(d->kind, INS_DEADLOCK_CYCLE);
	assert_int_equal(d->count, 2);
	assert_int_equal(ins_deadlocks_threads(found, d), 1);
	assert_int_equal(ins_graph_fibers(w.graph), 1);
	assert_int_equal(ins_graph_count(w.graph), 2);
}

static void test_a_fiber_behind_a_cycle_of_threads_is_no_finding_of_its_own(void **state)
{
	(void)state;
	waiting_lock(&w, 1, 1, THREAD(7));
	put_thread(7, FIB_WAIT_MUTEX, 2, THREAD(8));
	put_thread(8, FIB_WAIT_MUTEX, 3, THREAD(7));
	find(1, 1);
	assert_int_equal(ins_deadlocks_at(found, 0)->behind, 1);
	assert_int_equal(ins_deadlocks_threads(found, ins_deadlocks_at(found, 0)), 2);
}

static void test_a_fiber_that_waits_for_a_thread_that_may_go_on_is_one(void **state)
{
	(void)state;
	waiting_lock(&w, 1, 1, THREAD(7));
	put_thread(7, FIB_WAIT_SLEEP, 0, 0);
	find(1, 0);
	assert_int_equal(ins_deadlocks_at(found, 0)->kind, INS_DEADLOCK_THREAD);
	assert_int_equal(ins_deadlocks_at(found, 0)->holder, THREAD(7));
}

static void test_threads_that_wait_for_a_thread_are_nothing(void **state)
{
	(void)state;
	put_thread(7, FIB_WAIT_MUTEX, 1, THREAD(9));
	put_thread(8, FIB_WAIT_MUTEX, 1, THREAD(9));
	put_thread(9, FIB_WAIT_SLEEP, 0, 0);
	find(0, 0);
}

static void test_a_fiber_and_its_carrier_are_no_finding(void **state)
{
	struct ins_fiber row = waiting_for(1, FIB_WAIT_PINNED, 0, THREAD(7));

	(void)state;
	waiting_put(&w, &row);
	put_thread(7, FIB_WAIT_MUTEX, 1, THREAD(9));
	put_thread(9, FIB_WAIT_SLEEP, 0, 0);
	find(0, 0);
}

static void test_a_carrier_is_part_of_the_cycle_of_its_pinned_fiber(void **state)
{
	(void)state;
	waiting_lock(&w, 1, 1, THREAD(8));
	put_thread(7, FIB_WAIT_PINNED, 0, 1);
	put_thread(8, FIB_WAIT_MUTEX, 2, THREAD(7));
	find(1, 1);
	assert_int_equal(ins_deadlocks_at(found, 0)->count, 3);
}

static void test_a_joining_thread_is_part_of_a_cycle(void **state)
{
	struct ins_fiber row = waiting_for(THREAD(7), FIB_WAIT_JOIN, 0, 0);

	(void)state;
	waiting_lock(&w, 1, 1, THREAD(7));
	row.row.wait_arg = 1;
	row.flags = INS_FIBER_THREAD;
	waiting_put(&w, &row);
	find(1, 1);
	assert_int_equal(ins_deadlocks_at(found, 0)->count, 2);
}

/* How long a thread has waited is not known, so it may be before or behind each writer. */
static void test_whom_a_thread_waits_behind_to_read_is_unknown(void **state)
{
	struct ins_fiber row = waiting_for(1, FIB_WAIT_RWLOCK_WRITE, 1, 0);

	(void)state;
	row.row.readers = 1 | (uint64_t)fib_readers_mark(3) << FIB_READERS_MARK;
	waiting_put(&w, &row);
	row = waiting_for(THREAD(7), FIB_WAIT_RWLOCK_READ, 1, 0);
	row.row.readers = 1 | (uint64_t)fib_readers_mark(3) << FIB_READERS_MARK;
	row.flags = INS_FIBER_THREAD;
	waiting_put(&w, &row);
	waiting_free_one(&w, 3, 0);
	waiting_graph(&w);
	assert_int_equal(ins_graph_at(w.graph, 2)->holder, 0);
}

static void test_a_thread_that_reads_has_a_row(void **state)
{
	struct ins_fiber row = waiting_for(1, FIB_WAIT_RWLOCK_WRITE, 1, 0);

	(void)state;
	row.row.readers = 1 | (uint64_t)fib_readers_mark(THREAD(7)) << FIB_READERS_MARK;
	waiting_put(&w, &row);
	put_thread(7, FIB_WAIT_MUTEX, 2, 1);
	find(1, 1);
	assert_int_equal(ins_deadlocks_at(found, 0)->count, 2);
}

static void test_threads_do_not_count_among_the_fibers_that_all_wait(void **state)
{
	struct ins_source source = {.threads = 3};
	struct ins_stillness still;

	(void)state;
	waiting_lock(&w, 1, 1, 0);
	put_thread(7, FIB_WAIT_SLEEP, 0, 0);
	waiting_graph(&w);
	source.layout.waiting_threads = 1;
	source.layout.carriers = 1;
	ins_stillness_look(w.graph, &source, 0, &still);
	assert_true(still.all_wait);
	assert_int_equal(still.threads, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(test_a_fiber_and_a_thread_are_a_cycle),
		TEST(test_a_fiber_behind_a_cycle_of_threads_is_no_finding_of_its_own),
		TEST(test_a_fiber_that_waits_for_a_thread_that_may_go_on_is_one),
		TEST(test_threads_that_wait_for_a_thread_are_nothing),
		TEST(test_a_fiber_and_its_carrier_are_no_finding),
		TEST(test_a_carrier_is_part_of_the_cycle_of_its_pinned_fiber),
		TEST(test_a_joining_thread_is_part_of_a_cycle),
		TEST(test_whom_a_thread_waits_behind_to_read_is_unknown),
		TEST(test_a_thread_that_reads_has_a_row),
		TEST(test_threads_do_not_count_among_the_fibers_that_all_wait),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
