/* SPDX-License-Identifier: MIT */
/*
 * test_waiting_threads.c - the registry counts the threads that do nothing until a fiber acts
 *
 * Besides carriers these are the service thread, helper threads without work, and threads that wait
 * in the library without a deadline.
 */
#include "carriers.h"

#include <pthread.h>

#include "core/registry.h"
#include "tests/harness/process.h"

#define SERVICE 1

static struct fiber_runtime *rt;
static struct fiber_sem sem;
static int64_t until;

static uint32_t waiting(void)
{
	return __atomic_load_n(&fiber_registry.waiting_threads, __ATOMIC_ACQUIRE);
}

static bool is_waiting(void *arg)
{
	return waiting() == *(const uint32_t *)arg;
}

static void expect(uint32_t n)
{
	assert_true(harness_until(is_waiting, &n, 30));
}

static int start(void **state)
{
	const struct fiber_runtime_options options = carriers_options();

	(void)state;
	fiber_sem_init(&sem, 0);
	return fiber_runtime_start(&options, &rt);
}

static int finish(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

static void *wait_for_sem(void *arg)
{
	fiber_sem_wait(&sem, until);
	return arg;
}

/* Run a thread that waits, and check what is counted meanwhile and afterwards. */
static void wait_in_thread(int64_t deadline, uint32_t counted)
{
	pthread_t thread;

	until = deadline;
	pthread_create(&thread, NULL, wait_for_sem, NULL);
	expect(counted);
	fiber_sem_post(&sem);
	pthread_join(thread, NULL);
	assert_int_equal(waiting(), SERVICE);
}

static void test_the_service_thread_is_counted_while_a_runtime_runs(void **state)
{
	assert_int_equal(waiting(), SERVICE);
	finish(state);
	assert_int_equal(waiting(), 0);
	assert_int_equal(start(state), 0);
	assert_int_equal(waiting(), SERVICE);
}

static void test_a_thread_that_waits_without_a_deadline_is_counted(void **state)
{
	(void)state;
	wait_in_thread(FIBER_FOREVER, SERVICE + 1);
}

static void test_a_thread_that_waits_with_a_deadline_is_not(void **state)
{
	(void)state;
	wait_in_thread(fiber_after(INT64_C(3600000000000)), SERVICE);
}

static void *finish_main(void *arg)
{
	return (void *)(intptr_t)fiber_runtime_finish(arg, FIBER_FOREVER);
}

static void test_a_thread_that_finishes_a_runtime_is_counted(void **state)
{
	pthread_t thread;

	until = FIBER_FOREVER;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, wait_for_sem, NULL, NULL), 0);
	pthread_create(&thread, NULL, finish_main, rt);
	expect(SERVICE + 1);
	fiber_sem_post(&sem);
	pthread_join(thread, NULL);
	assert_int_equal(waiting(), 0);
	assert_int_equal(start(state), 0);
}

static void *join_main(void *arg)
{
	fiber_join(arg, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_a_thread_that_joins_a_fiber_is_counted(void **state)
{
	struct fiber *fiber;
	pthread_t thread;

	(void)state;
	until = FIBER_FOREVER;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, wait_for_sem, NULL, &fiber), 0);
	pthread_create(&thread, NULL, join_main, fiber);
	expect(SERVICE + 1);
	fiber_sem_post(&sem);
	pthread_join(thread, NULL);
	assert_int_equal(waiting(), SERVICE);
}

static void *held_call(void *arg)
{
	while (fiber_sem_trywait(&sem))
		sched_yield();
	return arg;
}

static _Atomic bool calls;

static void *block_main(void *arg)
{
	calls = true;
	fiber_block(held_call, NULL, NULL, FIBER_FOREVER);
	return arg;
}

static void test_an_offload_thread_is_counted_only_without_work(void **state)
{
	struct fiber *fiber;

	(void)state;
	calls = false;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, block_main, NULL, &fiber), 0);
	while (!calls)
		sched_yield();
	assert_int_equal(waiting(), SERVICE);
	fiber_sem_post(&sem);
	expect(SERVICE + 1);
	/* The joining thread counts only while it waits. */
	fiber_join(fiber, NULL, FIBER_FOREVER);
	assert_int_equal(waiting(), SERVICE + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_service_thread_is_counted_while_a_runtime_runs),
		cmocka_unit_test(test_a_thread_that_waits_without_a_deadline_is_counted),
		cmocka_unit_test(test_a_thread_that_waits_with_a_deadline_is_not),
		cmocka_unit_test(test_a_thread_that_finishes_a_runtime_is_counted),
		cmocka_unit_test(test_a_thread_that_joins_a_fiber_is_counted),
		cmocka_unit_test(test_an_offload_thread_is_counted_only_without_work),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, finish);
}
