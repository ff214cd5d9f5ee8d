/* SPDX-License-Identifier: MIT */
/* test_stillness.c - whether anything is left that can wake a fiber */
#include "inspect/waits/stillness.h"
#include "tests/harness/inspect/waiting.h"

static struct waiting w;
static struct ins_source source;
static struct ins_stillness still;

/* A core of a process with 5 threads: 2 carriers, and 3 that wait. */
static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	memset(&source, 0, sizeof source);
	rows_layout(&source.layout);
	source.layout.carriers = 2;
	source.layout.waiting_threads = 3;
	source.threads = 5;
	return 0;
}

static int end(void **state)
{
	(void)state;
	waiting_free(&w);
	return 0;
}

static void put(uint64_t id, unsigned kind)
{
	struct ins_fiber fiber = waiting_for(id, kind, 1, 0);

	waiting_put(&w, &fiber);
}

static void expect(bool all_wait, int64_t threads)
{
	ins_graph_free(w.graph);
	waiting_graph(&w);
	ins_stillness_look(w.graph, &source, 0, &still);
	assert_int_equal(still.all_wait, all_wait);
	assert_int_equal(still.threads, threads);
}

static void test_waits_that_only_a_fiber_or_a_thread_ends_are_still(void **state)
{
	static const unsigned kinds[] = {
		FIB_WAIT_PARK,	 FIB_WAIT_JOIN,	     FIB_WAIT_MUTEX,	 FIB_WAIT_RWLOCK_READ,
		FIB_WAIT_COND,	 FIB_WAIT_SEM,	     FIB_WAIT_EVENT,	 FIB_WAIT_RWLOCK_WRITE,
		FIB_WAIT_ONCE,	 FIB_WAIT_WAITGROUP, FIB_WAIT_GROUP,	 FIB_WAIT_BARRIER,
		FIB_WAIT_SELECT, FIB_WAIT_CHAN_SEND, FIB_WAIT_CHAN_RECV,
	};

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		put(i + 1, kinds[i]);
	waiting_dead(&w, 100);
	expect(true, 0);
}

static void test_waits_that_end_from_outside_are_not(void **state)
{
	static const unsigned kinds[] = {
		FIB_WAIT_YIELD,	  FIB_WAIT_SLEEP, FIB_WAIT_FD,	   FIB_WAIT_TIMER,
		FIB_WAIT_OFFLOAD, FIB_WAIT_OP,	  FIB_WAIT_PINNED, FIB_WAIT_PREDICATE,
		FIB_WAIT_COUNT,	  FIB_WAIT_NONE,
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		put(1, FIB_WAIT_SEM);
		put(2, kinds[i]);
		expect(false, -1);
		end(state);
		begin(state);
	}
	put(1, FIB_WAIT_SEM);
	expect(true, 0);
}

static void test_a_deadline_and_a_descriptor_of_a_select_end_a_wait(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_SEM, 1, 0);

	fiber.row.deadline = 5;
	waiting_put(&w, &fiber);
	expect(false, -1);
	end(state);
	begin(state);
	fiber = waiting_for(1, FIB_WAIT_SELECT, 1, 0);
	fiber.row.wait_arg = 3;
	waiting_put(&w, &fiber);
	expect(true, 0);
	fiber.row.id = 2;
	fiber.row.wait_arg = UINT64_C(0x100000003);
	waiting_put(&w, &fiber);
	expect(false, -1);
	end(state);
	begin(state);
	fiber = waiting_for(1, FIB_WAIT_SELECT, 0, 0);
	fiber.row.wait_arg = UINT64_C(0x100000001); /* descriptors only */
	waiting_put(&w, &fiber);
	expect(false, -1);
}

static void test_a_fiber_that_can_run_is_not_still(void **state)
{
	struct ins_fiber fiber = waiting_for(2, FIB_WAIT_NONE, 0, 0);

	(void)state;
	put(1, FIB_WAIT_SEM);
	fiber.row.state = FIBER_CREATED; /* another one would have to submit it */
	waiting_put(&w, &fiber);
	expect(true, 0);
	fiber.row.id = 3;
	fiber.row.state = FIBER_RUNNABLE;
	waiting_put(&w, &fiber);
	expect(false, -1);
}

/* Its switch count does not show that it has not moved. */
static void test_a_pinned_fiber_that_waits_proves_nothing(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 0);

	(void)state;
	fiber.row.state = FIBER_RUNNING;
	fiber.row.pins = 1;
	waiting_put(&w, &fiber);
	expect(false, -1);
}

static void test_threads_that_do_not_wait_are_counted(void **state)
{
	(void)state;
	put(1, FIB_WAIT_SEM);
	source.threads = 7;
	expect(true, 2);
	source.threads = 4; /* one has exited since the others were counted */
	expect(true, -1);
	source.threads = 0; /* unknown */
	expect(true, -1);
	source.threads = 5;
	source.layout.waiting_threads = 0; /* a program that does not count them */
	expect(true, -1);
}

static void test_no_fiber_at_all_is_no_stillness(void **state)
{
	(void)state;
	expect(false, -1);
	waiting_dead(&w, 1);
	expect(false, -1);
}

#define STILLNESS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STILLNESS_TEST(test_waits_that_only_a_fiber_or_a_thread_ends_are_still),
		STILLNESS_TEST(test_waits_that_end_from_outside_are_not),
		STILLNESS_TEST(test_a_deadline_and_a_descriptor_of_a_select_end_a_wait),
		STILLNESS_TEST(test_a_fiber_that_can_run_is_not_still),
		STILLNESS_TEST(test_a_pinned_fiber_that_waits_proves_nothing),
		STILLNESS_TEST(test_threads_that_do_not_wait_are_counted),
		STILLNESS_TEST(test_no_fiber_at_all_is_no_stillness),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
