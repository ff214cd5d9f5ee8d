/* SPDX-License-Identifier: MIT */
/* test_lot.c - wait for and wake by an address */
#include "tests/unit/io/inside.h"

#include "sync/lot.h"

#define WAITERS 6

static char objects[4096];
static _Atomic int results[WAITERS];
static _Atomic int order, woken[WAITERS];

static struct fiber_lot_wait on(const void *address)
{
	return (struct fiber_lot_wait){.address = address, .kind = FIB_WAIT_PTHREAD_COND};
}

/* arg: which waiter; even ones wait for one address, odd ones for another. */
static void *wait_here(void *arg)
{
	const size_t i = (size_t)(uintptr_t)arg;
	const struct fiber_lot_wait wait = on(&objects[i % 2]);

	results[i] = fiber_lot_wait(&wait, FIBER_FOREVER);
	woken[i] = ++order;
	return NULL;
}

static void *by_number(size_t i)
{
	return (void *)(uintptr_t)i;
}

static void test_lot_wakes_those_of_the_address_in_their_order(void **state)
{
	struct fiber *fibers[WAITERS];

	(void)state;
	for (size_t i = 0; i < WAITERS; i++)
		fibers[i] = inside_suspended(wait_here, by_number(i));
	assert_int_equal(fiber_lot_waiters, WAITERS);
	assert_int_equal(fiber_lot_wake(&objects[2], SIZE_MAX), 0);
	for (size_t i = 0; i < WAITERS; i += 2) {
		assert_int_equal(fiber_lot_wake(&objects[0], 1), 1);
		inside_join(fibers[i]);
		assert_int_equal(woken[i], i / 2 + 1);
	}
	assert_int_equal(fiber_lot_wake(&objects[0], 1), 0);
	assert_int_equal(fiber_lot_wake(&objects[1], 2), 2);
	assert_int_equal(fiber_lot_wake(&objects[1], SIZE_MAX), 1);
	for (size_t i = 1; i < WAITERS; i += 2)
		inside_join(fibers[i]);
	for (size_t i = 0; i < WAITERS; i++)
		assert_int_equal(results[i], 0);
	assert_int_equal(fiber_lot_waiters, 0);
}

static void *wait_on_thread(void *arg)
{
	return wait_here(arg);
}

static void test_lot_wakes_threads_too(void **state)
{
	pthread_t threads[WAITERS];

	(void)state;
	for (size_t i = 0; i < WAITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_on_thread, by_number(0)),
				 0);
	for (size_t n = 0; n < WAITERS;) {
		n += fiber_lot_wake(&objects[0], SIZE_MAX);
		sched_yield();
	}
	for (size_t i = 0; i < WAITERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(fiber_lot_waiters, 0);
}

static bool never(void *arg)
{
	(*(int *)arg)++;
	return false;
}

static void *wait_for_nothing(void *arg)
{
	struct fiber_lot_wait wait = on(objects);

	wait.still = never;
	wait.arg = arg;
	return (void *)(intptr_t)fiber_lot_wait(&wait, FIBER_FOREVER);
}

static void test_lot_wait_that_is_not_needed_returns(void **state)
{
	int asked = 0;

	(void)state;
	assert_int_equal(inside(wait_for_nothing, &asked), -EAGAIN);
	assert_int_equal(on_a_thread(wait_for_nothing, &asked), -EAGAIN);
	assert_int_equal(asked, 2);
	assert_int_equal(fiber_lot_waiters, 0);
}

static bool handed[WAITERS];

/* The last one is not to be handed anything. */
static void *wait_to_be_handed(void *arg)
{
	const size_t i = (size_t)(uintptr_t)arg;
	struct fiber_lot_wait wait = on(objects);

	wait.handed = i < WAITERS - 1 ? &handed[i] : NULL;
	return (void *)(intptr_t)fiber_lot_wait(&wait, FIBER_FOREVER);
}

static void test_lot_hands_to_one_after_another(void **state)
{
	struct fiber *fibers[WAITERS];

	(void)state;
	assert_false(fiber_lot_hand(objects));
	for (size_t i = WAITERS; i-- > 0;)
		fibers[i] = inside_suspended(wait_to_be_handed, by_number(i));
	for (size_t i = WAITERS - 1; i-- > 0;) {
		assert_false(handed[i]);
		assert_false(fiber_lot_hand(&objects[1]));
		assert_true(fiber_lot_hand(objects));
		inside_join(fibers[i]);
		assert_true(handed[i]);
	}
	assert_false(fiber_lot_hand(objects));
	assert_int_equal(fiber_lot_wake(objects, SIZE_MAX), 1);
	inside_join(fibers[WAITERS - 1]);
	assert_int_equal(fiber_lot_waiters, 0);
}

static void *wait_to_be_handed_on_a_thread(void *arg)
{
	return wait_to_be_handed(arg);
}

static void test_lot_hands_to_threads_too(void **state)
{
	pthread_t thread;

	(void)state;
	handed[0] = false;
	assert_int_equal(pthread_create(&thread, NULL, wait_to_be_handed_on_a_thread, by_number(0)),
			 0);
	while (!fiber_lot_hand(objects))
		sched_yield();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(handed[0]);
}

static void *wait_a_little_to_be_handed(void *arg)
{
	struct fiber_lot_wait wait = on(objects);

	wait.handed = arg;
	return (void *)(intptr_t)fiber_lot_wait(&wait, fiber_after(MS));
}

static void test_lot_hands_nothing_to_one_whose_time_is_over(void **state)
{
	bool was_handed = false;

	(void)state;
	assert_int_equal(inside(wait_a_little_to_be_handed, &was_handed), -ETIMEDOUT);
	assert_false(fiber_lot_hand(objects));
	assert_false(was_handed);
}

static void wake_own(void *arg)
{
	*(size_t *)arg = fiber_lot_wake(objects, SIZE_MAX);
}

/* queued() comes when the caller can be woken, and may wake: itself, here. */
static void *wake_oneself(void *arg)
{
	struct fiber_lot_wait wait = on(objects);

	wait.queued = wake_own;
	wait.arg = arg;
	return (void *)(intptr_t)fiber_lot_wait(&wait, FIBER_FOREVER);
}

static void test_lot_waiter_can_be_woken_before_it_waits(void **state)
{
	size_t count = 0;

	(void)state;
	assert_int_equal(inside(wake_oneself, &count), 0);
	assert_int_equal(count, 1);
	count = 0;
	assert_int_equal(on_a_thread(wake_oneself, &count), 0);
	assert_int_equal(count, 1);
}

static void *wait_a_little(void *arg)
{
	struct fiber_lot_wait wait = on(objects);

	(void)arg;
	return (void *)(intptr_t)fiber_lot_wait(&wait, fiber_after(5 * MS));
}

static void *wait_to_be_cancelled(void *arg)
{
	struct fiber_lot_wait wait = on(objects);

	wait.cancellable = true;
	*(int *)arg = fiber_lot_wait(&wait, FIBER_FOREVER);
	return NULL;
}

static void test_lot_wait_ends_by_a_deadline_or_a_cancellation(void **state)
{
	struct fiber_result end;
	struct fiber *fiber;
	int result = 0;

	(void)state;
	assert_int_equal(inside(wait_a_little, NULL), -ETIMEDOUT);
	assert_int_equal(on_a_thread(wait_a_little, NULL), -ETIMEDOUT);
	fiber = inside_suspended(wait_to_be_cancelled, &result);
	fiber_cancel(fiber);
	assert_int_equal(fiber_join(fiber, &end, FIBER_FOREVER), 0);
	assert_int_equal(result, -ECANCELED);
	assert_int_equal(fiber_lot_wake(objects, SIZE_MAX), 0);
	assert_int_equal(fiber_lot_waiters, 0);
}

static void test_lot_wakes_of_many_addresses_only_the_right_one(void **state)
{
	struct fiber *fibers[WAITERS];

	(void)state;
	/* More addresses than there are queues. */
	for (size_t i = 0; i < WAITERS; i++)
		fibers[i] = inside_suspended(wait_here, by_number(1));
	for (size_t i = 0; i < sizeof(objects); i++)
		if (i != 1)
			assert_int_equal(fiber_lot_wake(&objects[i], SIZE_MAX), 0);
	assert_int_equal(fiber_lot_wake(&objects[1], SIZE_MAX), WAITERS);
	for (size_t i = 0; i < WAITERS; i++)
		inside_join(fibers[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lot_wakes_those_of_the_address_in_their_order),
		cmocka_unit_test(test_lot_wakes_threads_too),
		cmocka_unit_test(test_lot_wait_that_is_not_needed_returns),
		cmocka_unit_test(test_lot_hands_to_one_after_another),
		cmocka_unit_test(test_lot_hands_to_threads_too),
		cmocka_unit_test(test_lot_hands_nothing_to_one_whose_time_is_over),
		cmocka_unit_test(test_lot_waiter_can_be_woken_before_it_waits),
		cmocka_unit_test(test_lot_wait_ends_by_a_deadline_or_a_cancellation),
		cmocka_unit_test(test_lot_wakes_of_many_addresses_only_the_right_one),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
