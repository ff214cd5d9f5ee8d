/* SPDX-License-Identifier: MIT */
/*
 * test_race_finish.c - the waker of a runtime's last fiber may still be returning from the call
 *
 * The woken fiber exits, and the runtime is finished and freed before the waker returns. Only a
 * sanitizer sees an access to freed memory; without one this test proves that nothing hangs.
 */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <pthread.h>

#define ROUNDS 400

static struct fiber_sem wanted, given; /* static: they outlive every runtime here */

static void *ask_and_take(void *arg)
{
	(void)arg;
	fiber_sem_post(&wanted);
	fiber_sem_wait(&given, FIBER_FOREVER);
	return NULL;
}

static void *give(void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		fiber_sem_wait(&wanted, FIBER_FOREVER);
		fiber_sem_post(&given);
	}
	return NULL;
}

static void finish_rounds(void)
{
	size_t i;

	for (i = 0; i < ROUNDS; i++) {
		struct fiber_runtime *const rt = carriers_start();

		assert_int_equal(fiber_runtime_spawn(rt, NULL, ask_and_take, NULL, NULL), 0);
		carriers_finish(rt);
	}
}

static void test_finish_waits_for_a_thread_that_wakes_the_last_fiber(void **state)
{
	pthread_t waker;

	(void)state;
	assert_int_equal(pthread_create(&waker, NULL, give, NULL), 0);
	finish_rounds();
	assert_int_equal(pthread_join(waker, NULL), 0);
}

static void test_finish_waits_for_a_fiber_of_another_runtime_that_wakes_the_last_fiber(void **state)
{
	struct fiber_runtime *const other = carriers_start();

	(void)state;
	assert_int_equal(fiber_runtime_spawn(other, NULL, give, NULL, NULL), 0);
	finish_rounds();
	carriers_finish(other);
}

static void *join_it(void *arg)
{
	return (void *)(intptr_t)fiber_join(arg, NULL, FIBER_FOREVER);
}

/* The carrier that cleans up the exited fiber wakes the joiner in the other runtime, which then
 * finishes. */
static void test_finish_waits_for_a_carrier_of_another_runtime_that_wakes_a_joiner(void **state)
{
	struct fiber_runtime *const other = carriers_start();
	size_t i;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		struct fiber_runtime *const rt = carriers_start();
		struct fiber *fiber;

		assert_int_equal(fiber_create(NULL, harness_nothing, NULL, &fiber), 0);
		assert_int_equal(fiber_runtime_spawn(rt, NULL, join_it, fiber, NULL), 0);
		assert_int_equal(fiber_submit(other, fiber), 0);
		carriers_finish(rt);
	}
	carriers_finish(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finish_waits_for_a_thread_that_wakes_the_last_fiber),
		cmocka_unit_test(
			test_finish_waits_for_a_fiber_of_another_runtime_that_wakes_the_last_fiber),
		cmocka_unit_test(
			test_finish_waits_for_a_carrier_of_another_runtime_that_wakes_a_joiner),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("race: finish", tests, NULL, NULL);
}
