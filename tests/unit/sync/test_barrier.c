/* SPDX-License-Identifier: MIT */
/* test_barrier.c - the requested number continue together, and one that gave up does not count */
#include "queue.h"

static void *wait_forever(void *arg)
{
	return (void *)(intptr_t)fiber_barrier_wait(arg, FIBER_FOREVER);
}

static void *wait_soon(void *arg)
{
	return (void *)(intptr_t)fiber_barrier_wait(arg, fiber_after(2 * MS));
}

static void test_barrier_zeroed_or_of_one_holds_back_nobody(void **state)
{
	struct fiber_barrier b = {0};

	(void)state;
	assert_int_equal(fiber_barrier_wait(&b, 0), FIBER_BARRIER_LAST);
	assert_int_equal(fiber_barrier_init(&b, 0), -EINVAL);
	assert_int_equal(fiber_barrier_init(&b, 1), 0);
	assert_int_equal(fiber_barrier_wait(&b, 0), FIBER_BARRIER_LAST);
	assert_int_equal(queue_join(queue_spawn(wait_forever, &b)), FIBER_BARRIER_LAST);
}

static void test_barrier_tells_the_last_from_the_others_round_after_round(void **state)
{
	struct fiber_barrier b = {0};
	struct fiber *fibers[3];
	pthread_t thread;
	void *rc;
	int round, i;

	(void)state;
	fiber_barrier_init(&b, 5);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 3; i++)
			fibers[i] = queue_spawn(wait_forever, &b);
		assert_int_equal(pthread_create(&thread, NULL, wait_forever, &b), 0);
		queue_await(&b.waiters, 4);
		assert_int_equal(fiber_barrier_wait(&b, 0), FIBER_BARRIER_LAST);
		for (i = 0; i < 3; i++)
			assert_int_equal(queue_join(fibers[i]), 0);
		pthread_join(thread, &rc);
		assert_int_equal((intptr_t)rc, 0);
		assert_int_equal(queue_length(&b.waiters), 0);
	}
}

static void test_barrier_waiter_that_gave_up_does_not_count(void **state)
{
	struct fiber_barrier b = {0};
	struct fiber *f;
	pthread_t thread;
	void *rc;

	(void)state;
	fiber_barrier_init(&b, 3);
	f = queue_spawn(wait_forever, &b);
	queue_await(&b.waiters, 1);
	assert_int_equal(queue_join(queue_spawn(wait_soon, &b)), -ETIMEDOUT);
	assert_int_equal(fiber_barrier_wait(&b, 0), -ETIMEDOUT);
	assert_int_equal(queue_length(&b.waiters), 1);
	assert_int_equal(pthread_create(&thread, NULL, wait_forever, &b), 0);
	queue_await(&b.waiters, 2);
	assert_int_equal(fiber_barrier_wait(&b, FIBER_FOREVER), FIBER_BARRIER_LAST);
	assert_int_equal(queue_join(f), 0);
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, 0);
}

/*
 * The last participant arrives when a waiter's deadline has expired but the waiter has not left
 * yet.
 */
static void test_barrier_deadline_that_meets_the_last_one_does_not_count(void **state)
{
	struct fiber_barrier b = {0};
	int passed = 0, timed_out = 0, i;

	(void)state;
	fiber_barrier_init(&b, 2);
	for (i = 0; i < 300; i++) {
		struct fiber *f = queue_spawn(wait_soon, &b);
		int64_t at = fiber_after(2 * MS);
		int mine, its;

		while (fiber_now() < at + (i % 20 - 10) * 5000)
			;
		mine = fiber_barrier_wait(&b, fiber_after(MS));
		its = queue_join(f);
		/* Both pass or neither does. */
		if (mine >= 0 && its >= 0)
			passed += mine + its == FIBER_BARRIER_LAST;
		else if (mine == -ETIMEDOUT && its == -ETIMEDOUT)
			timed_out++;
		assert_int_equal(queue_length(&b.waiters), 0);
	}
	assert_int_equal(passed + timed_out, 300);
}

static void *wait_pinned(void *arg)
{
	int rc;

	fiber_pin();
	rc = fiber_barrier_wait(arg, FIBER_FOREVER);
	fiber_unpin();
	return (void *)(intptr_t)rc;
}

static void test_barrier_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_barrier b = {0};
	struct fiber *f;

	(void)state;
	fiber_barrier_init(&b, 2);
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, &b)), -EDEADLK);
	assert_int_equal(queue_length(&b.waiters), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(wait_pinned, &b);
	queue_await(&b.waiters, 1);
	assert_int_equal(fiber_barrier_wait(&b, 0), FIBER_BARRIER_LAST);
	assert_int_equal(queue_join(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_barrier_zeroed_or_of_one_holds_back_nobody),
		cmocka_unit_test(test_barrier_tells_the_last_from_the_others_round_after_round),
		cmocka_unit_test(test_barrier_waiter_that_gave_up_does_not_count),
		cmocka_unit_test(test_barrier_deadline_that_meets_the_last_one_does_not_count),
		cmocka_unit_test(test_barrier_wait_of_a_pinned_fiber_follows_the_policy),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
