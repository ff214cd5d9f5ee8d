/* SPDX-License-Identifier: MIT */
/* test_once.c - it runs once and all see it, and a fiber that exits inside it leaves it undone */
#include "queue.h"

struct work {
	struct fiber_once once;
	_Atomic unsigned began, ended;
	_Atomic bool go;
	int product;			   /* made by the fiber that runs the function */
	enum { RETURN, EXIT, FAIL } first; /* how the first fiber leaves the function */
};

static void work(void *arg)
{
	struct work *w = arg;
	const unsigned turn = fib_add(&w->began, 1);

	while (!fib_load_acquire(&w->go))
		if (fiber_yield() < 0)
			sched_yield();
	if (!turn && w->first == EXIT) {
		if (fiber_self())
			fiber_exit((void *)(intptr_t)7);
		pthread_exit((void *)(intptr_t)7);
	}
	if (!turn && w->first == FAIL)
		fiber_fail(-EIO, "no");
	w->product = 42;
	fib_add(&w->ended, 1);
}

static void *call(void *arg)
{
	struct work *w = arg;
	const int rc = fiber_once(&w->once, work, w);

	return (void *)(intptr_t)(rc < 0 ? rc : w->product);
}

static void test_once_runs_the_function_once_in_the_first_caller(void **state)
{
	struct work w = {.go = true};

	(void)state;
	assert_int_equal((intptr_t)call(&w), 42);
	assert_int_equal((intptr_t)call(&w), 42);
	assert_int_equal(queue_join(queue_spawn(call, &w)), 42);
	assert_int_equal(fib_load(&w.began), 1);
	assert_true(w.once.runner == 0);
}

static void test_once_lets_fibers_and_threads_wait_until_it_is_done(void **state)
{
	struct work w = {0};
	struct fiber *fibers[5];
	pthread_t threads[3];
	void *rc;
	int i;

	(void)state;
	fibers[0] = queue_spawn(call, &w);
	while (!fib_load_acquire(&w.began))
		sched_yield();
	for (i = 1; i < 5; i++)
		fibers[i] = queue_spawn(call, &w);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call, &w), 0);
	queue_await(&w.once.waiters, 7);
	assert_true(w.once.runner == fiber_id(fibers[0]));
	fib_store_release(&w.go, true);
	for (i = 0; i < 5; i++)
		assert_int_equal(queue_join(fibers[i]), 42);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &rc);
		assert_int_equal((intptr_t)rc, 42);
	}
	assert_int_equal(fib_load(&w.began), 1);
}

/*
 * The first fiber exits in the function while three wait. The longest waiter runs it, the others
 * keep waiting.
 */
static void ends_in_it(int first, int error)
{
	struct work w = {.first = first};
	struct fiber_result result;
	struct fiber *fibers[4];
	int i;

	fibers[0] = queue_spawn(call, &w);
	while (!fib_load_acquire(&w.began))
		sched_yield();
	for (i = 1; i < 4; i++) {
		fibers[i] = queue_spawn(call, &w);
		queue_await(&w.once.waiters, (uint32_t)i);
	}
	fib_store_release(&w.go, true);
	assert_int_equal(fiber_join(fibers[0], &result, FIBER_FOREVER), 0);
	assert_int_equal(result.error, error);
	for (i = 1; i < 4; i++)
		assert_int_equal(queue_join(fibers[i]), 42);
	assert_int_equal(fib_load(&w.began), 2);
	assert_int_equal(fib_load(&w.ended), 1);
}

static void test_once_is_run_by_the_next_when_the_fiber_exits_in_it(void **state)
{
	(void)state;
	ends_in_it(EXIT, 0);
}

static void test_once_is_run_by_the_next_when_the_fiber_fails_in_it(void **state)
{
	(void)state;
	ends_in_it(FAIL, -EIO);
}

static void test_once_is_run_by_a_later_caller_when_nobody_waited(void **state)
{
	struct work w = {.first = EXIT, .go = true};

	(void)state;
	assert_int_equal(queue_join(queue_spawn(call, &w)), 7);
	assert_true(w.once.runner == 0);
	assert_int_equal((intptr_t)call(&w), 42);
	assert_int_equal(fib_load(&w.began), 2);
}

static void test_once_is_run_by_the_next_when_the_thread_exits_in_it(void **state)
{
	struct work w = {.first = EXIT};
	struct fiber *f;
	pthread_t thread;
	void *rc;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, call, &w), 0);
	while (!fib_load_acquire(&w.began))
		sched_yield();
	assert_true(w.once.runner & FIB_HOLDER_THREAD);
	f = queue_spawn(call, &w);
	queue_await(&w.once.waiters, 1);
	fib_store_release(&w.go, true);
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, 7);
	assert_int_equal(queue_join(f), 42);
}

static void call_at_exit(void *arg)
{
	struct work *w = arg;

	fiber_once(&w->once, work, w);
}

static void *exit_with_handler(void *arg)
{
	fiber_at_exit(call_at_exit, arg);
	call(arg);
	return NULL;
}

/* Otherwise the exiting fiber would wait for itself. */
static void test_once_can_be_run_by_an_exit_handler_of_the_one_that_ended_in_it(void **state)
{
	struct work w = {.first = EXIT, .go = true};

	(void)state;
	assert_int_equal(queue_join(queue_spawn(exit_with_handler, &w)), 7);
	assert_int_equal(w.product, 42);
	assert_int_equal(fib_load(&w.began), 2);
}

struct nested {
	struct work inner;
	struct fiber_once outer;
};

static void outer_work(void *arg)
{
	struct nested *n = arg;

	fiber_once(&n->inner.once, work, &n->inner);
}

static void *call_outer(void *arg)
{
	struct nested *n = arg;

	fiber_once(&n->outer, outer_work, n);
	return NULL;
}

/* A fiber that exits two functions deep has completed neither. */
static void test_once_in_once_is_undone_from_the_inside_out(void **state)
{
	struct nested n = {.inner = {.first = EXIT, .go = true}};

	(void)state;
	assert_int_equal(queue_join(queue_spawn(call_outer, &n)), 7);
	assert_int_equal(fib_load(&n.outer.state), 0);
	assert_int_equal(fib_load(&n.inner.once.state), 0);
	assert_int_equal(queue_join(queue_spawn(call_outer, &n)), 0);
	assert_int_equal(n.inner.product, 42);
	assert_int_equal(fib_load(&n.inner.began), 2);
}

static void *call_pinned(void *arg)
{
	void *rc;

	fiber_pin();
	rc = call(arg);
	fiber_unpin();
	return rc;
}

static void test_once_that_a_pinned_fiber_waits_for_follows_the_policy(void **state)
{
	struct work w = {0};
	struct fiber *runner, *f;

	(void)state;
	runner = queue_spawn(call, &w);
	while (!fib_load_acquire(&w.began))
		sched_yield();
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(call_pinned, &w)), -EDEADLK);
	assert_int_equal(queue_length(&w.once.waiters), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(call_pinned, &w);
	queue_await(&w.once.waiters, 1);
	fib_store_release(&w.go, true);
	assert_int_equal(queue_join(f), 42);
	assert_int_equal(queue_join(runner), 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once_runs_the_function_once_in_the_first_caller),
		cmocka_unit_test(test_once_lets_fibers_and_threads_wait_until_it_is_done),
		cmocka_unit_test(test_once_is_run_by_the_next_when_the_fiber_exits_in_it),
		cmocka_unit_test(test_once_is_run_by_the_next_when_the_fiber_fails_in_it),
		cmocka_unit_test(test_once_is_run_by_a_later_caller_when_nobody_waited),
		cmocka_unit_test(test_once_is_run_by_the_next_when_the_thread_exits_in_it),
		cmocka_unit_test(
			test_once_can_be_run_by_an_exit_handler_of_the_one_that_ended_in_it),
		cmocka_unit_test(test_once_in_once_is_undone_from_the_inside_out),
		cmocka_unit_test(test_once_that_a_pinned_fiber_waits_for_follows_the_policy),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
