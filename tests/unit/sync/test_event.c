/* SPDX-License-Identifier: MIT */
/* test_event.c - a set lets all waiters through, and after a reset later ones wait */
#include "queue.h"

static void *wait_forever(void *arg)
{
	return (void *)(intptr_t)fiber_event_wait(arg, FIBER_FOREVER);
}

static void *wait_soon(void *arg)
{
	const int64_t deadline = fiber_after(2 * MS);
	const int rc = fiber_event_wait(arg, deadline);

	return (void *)(intptr_t)(rc == -ETIMEDOUT && fiber_now() < deadline ? -ETIME : rc);
}

static void test_event_zeroed_is_not_set(void **state)
{
	struct fiber_event e = {0};

	(void)state;
	assert_int_equal(fiber_event_wait(&e, 0), -ETIMEDOUT);
	assert_int_equal(fiber_event_wait(&e, fiber_now()), -ETIMEDOUT);
	assert_int_equal(fiber_event_reset(&e), 0);
	assert_int_equal(fiber_event_wait(&e, 0), -ETIMEDOUT);
}

static void test_event_stays_set_until_it_is_reset(void **state)
{
	struct fiber_event e = {0};

	(void)state;
	assert_int_equal(fiber_event_set(&e), 0);
	assert_int_equal(fiber_event_set(&e), 0);
	assert_int_equal(fiber_event_wait(&e, 0), 0);
	assert_int_equal(fiber_event_wait(&e, 0), 0);
	assert_int_equal(queue_join(queue_spawn(wait_forever, &e)), 0);
	assert_int_equal(fiber_event_reset(&e), 0);
	assert_int_equal(fiber_event_wait(&e, 0), -ETIMEDOUT);
}

/* A fiber that waited at the set goes through, even if the event is reset before the fiber runs. */
static void test_event_set_and_reset_at_once_wakes_all_that_waited(void **state)
{
	struct fiber_event e = {0};
	struct fiber *fibers[5];
	pthread_t threads[3];
	void *rc;
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++)
		fibers[i] = queue_spawn(wait_forever, &e);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_forever, &e), 0);
	queue_await(&e.waiters, 8);
	fiber_event_set(&e);
	fiber_event_reset(&e);
	assert_int_equal(queue_length(&e.waiters), 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(queue_join(fibers[i]), 0);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &rc);
		assert_int_equal((intptr_t)rc, 0);
	}
	assert_int_equal(fiber_event_wait(&e, 0), -ETIMEDOUT);
}

static void test_event_wait_times_out_not_before_its_deadline(void **state)
{
	struct fiber_event e = {0};
	pthread_t thread;
	void *rc;

	(void)state;
	assert_int_equal(queue_join(queue_spawn(wait_soon, &e)), -ETIMEDOUT);
	assert_int_equal(pthread_create(&thread, NULL, wait_soon, &e), 0);
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, -ETIMEDOUT);
	assert_int_equal(queue_length(&e.waiters), 0);
}

static void *wait_pinned(void *arg)
{
	int rc;

	fiber_pin();
	rc = fiber_event_wait(arg, FIBER_FOREVER);
	fiber_unpin();
	return (void *)(intptr_t)rc;
}

static void test_event_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_event e = {0};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, &e)), -EDEADLK);
	assert_int_equal(queue_length(&e.waiters), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(wait_pinned, &e);
	queue_await(&e.waiters, 1);
	fiber_event_set(&e);
	assert_int_equal(queue_join(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_zeroed_is_not_set),
		cmocka_unit_test(test_event_stays_set_until_it_is_reset),
		cmocka_unit_test(test_event_set_and_reset_at_once_wakes_all_that_waited),
		cmocka_unit_test(test_event_wait_times_out_not_before_its_deadline),
		cmocka_unit_test(test_event_wait_of_a_pinned_fiber_follows_the_policy),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
