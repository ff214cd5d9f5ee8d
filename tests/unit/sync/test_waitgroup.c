/* SPDX-License-Identifier: MIT */
/* test_waitgroup.c - waiters continue when the last unit is done, and not before */
#include <stdlib.h>

#include "queue.h"

static void *wait_forever(void *arg)
{
	return (void *)(intptr_t)fiber_waitgroup_wait(arg, FIBER_FOREVER);
}

static void *wait_soon(void *arg)
{
	const int64_t deadline = fiber_after(2 * MS);
	const int rc = fiber_waitgroup_wait(arg, deadline);

	return (void *)(intptr_t)(rc == -ETIMEDOUT && fiber_now() < deadline ? -ETIME : rc);
}

static void test_waitgroup_zeroed_is_done(void **state)
{
	struct fiber_waitgroup g = {0};

	(void)state;
	assert_int_equal(fiber_waitgroup_wait(&g, 0), 0);
	assert_int_equal(queue_join(queue_spawn(wait_forever, &g)), 0);
}

static void test_waitgroup_is_done_after_as_many_as_were_added(void **state)
{
	struct fiber_waitgroup g = {0};

	(void)state;
	assert_int_equal(fiber_waitgroup_add(&g, 2), 0);
	assert_int_equal(fiber_waitgroup_add(&g, 1), 0);
	assert_int_equal(fiber_waitgroup_add(&g, 0), 0);
	assert_int_equal(fiber_waitgroup_done(&g), 0);
	assert_int_equal(fiber_waitgroup_wait(&g, 0), -ETIMEDOUT);
	assert_int_equal(fiber_waitgroup_add(&g, -1), 0);
	assert_int_equal(fiber_waitgroup_wait(&g, 0), -ETIMEDOUT);
	assert_int_equal(fiber_waitgroup_done(&g), 0);
	assert_int_equal(fiber_waitgroup_wait(&g, 0), 0);
	/* The group can be used again. */
	fiber_waitgroup_add(&g, 1);
	assert_int_equal(fiber_waitgroup_wait(&g, 0), -ETIMEDOUT);
}

static void test_waitgroup_add_over_the_limit_is_refused(void **state)
{
	struct fiber_waitgroup g = {0};

	(void)state;
	assert_int_equal(fiber_waitgroup_add(&g, INT64_MAX), 0);
	assert_int_equal(fiber_waitgroup_add(&g, INT64_MAX), 0);
	assert_int_equal(fiber_waitgroup_add(&g, 1), 0);
	assert_int_equal(fiber_waitgroup_add(&g, 1), -EOVERFLOW);
	assert_int_equal(fiber_waitgroup_add(&g, INT64_MIN), 0);
	assert_int_equal(fiber_waitgroup_add(&g, -INT64_MAX), 0);
	assert_int_equal(fiber_waitgroup_wait(&g, 0), 0);
}

static void test_waitgroup_wakes_fibers_and_threads_at_once(void **state)
{
	struct fiber_waitgroup g = {0};
	struct fiber *fibers[5];
	pthread_t threads[3];
	void *rc;
	unsigned i;

	(void)state;
	fiber_waitgroup_add(&g, 2);
	for (i = 0; i < 5; i++)
		fibers[i] = queue_spawn(wait_forever, &g);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_forever, &g), 0);
	queue_await(&g.waiters, 8);
	fiber_waitgroup_done(&g);
	assert_int_equal(queue_length(&g.waiters), 8);
	fiber_waitgroup_done(&g);
	assert_int_equal(queue_length(&g.waiters), 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(queue_join(fibers[i]), 0);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &rc);
		assert_int_equal((intptr_t)rc, 0);
	}
}

static void test_waitgroup_wait_times_out_and_leaves_the_count(void **state)
{
	struct fiber_waitgroup g = {0};
	pthread_t thread;
	void *rc;

	(void)state;
	fiber_waitgroup_add(&g, 1);
	assert_int_equal(queue_join(queue_spawn(wait_soon, &g)), -ETIMEDOUT);
	assert_int_equal(pthread_create(&thread, NULL, wait_soon, &g), 0);
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, -ETIMEDOUT);
	assert_int_equal(queue_length(&g.waiters), 0);
	fiber_waitgroup_done(&g);
	assert_int_equal(fiber_waitgroup_wait(&g, 0), 0);
}

static void *done(void *arg)
{
	fiber_waitgroup_done(arg);
	return NULL;
}

/*
 * For the sanitizers: the group is freed as soon as the wait returns, while the last done may still
 * be running.
 */
static void test_waitgroup_can_be_freed_after_the_wait(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct fiber_waitgroup *g = calloc(1, sizeof *g);
		struct fiber *fibers[3];

		assert_non_null(g);
		fiber_waitgroup_add(g, 3);
		for (k = 0; k < 3; k++)
			fibers[k] = queue_spawn(done, g);
		fiber_waitgroup_wait(g, FIBER_FOREVER);
		free(g);
		for (k = 0; k < 3; k++)
			queue_join(fibers[k]);
	}
}

static void *wait_pinned(void *arg)
{
	int rc;

	fiber_pin();
	rc = fiber_waitgroup_wait(arg, FIBER_FOREVER);
	fiber_unpin();
	return (void *)(intptr_t)rc;
}

static void test_waitgroup_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_waitgroup g = {0};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, &g)), 0);
	fiber_waitgroup_add(&g, 1);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, &g)), -EDEADLK);
	assert_int_equal(queue_length(&g.waiters), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(wait_pinned, &g);
	queue_await(&g.waiters, 1);
	fiber_waitgroup_done(&g);
	assert_int_equal(queue_join(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waitgroup_zeroed_is_done),
		cmocka_unit_test(test_waitgroup_is_done_after_as_many_as_were_added),
		cmocka_unit_test(test_waitgroup_add_over_the_limit_is_refused),
		cmocka_unit_test(test_waitgroup_wakes_fibers_and_threads_at_once),
		cmocka_unit_test(test_waitgroup_wait_times_out_and_leaves_the_count),
		cmocka_unit_test(test_waitgroup_can_be_freed_after_the_wait),
		cmocka_unit_test(test_waitgroup_wait_of_a_pinned_fiber_follows_the_policy),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
