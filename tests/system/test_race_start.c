/* SPDX-License-Identifier: MIT */
/*
 * test_race_start.c - many threads start and finish their own runtimes at once
 *
 * They share the registry, the stack pool, the process name, and the service thread, which starts
 * with the first runtime and ends with the last.
 */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <pthread.h>

#define THREADS 6

static void *spawn_some(void *arg)
{
	struct fiber *fibers[10];
	size_t i;

	for (i = 0; i < COUNT(fibers); i++)
		fiber_spawn(harness_nothing, arg, &fibers[i]);
	for (i = 0; i < COUNT(fibers); i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	return arg;
}

/* Returns how often it failed. */
static void *run_rounds(void *arg)
{
	struct fiber_runtime_options options = carriers_options();
	const size_t rounds = *harness_sanitizer() ? 30 : 100;
	uintptr_t failed = 0;
	size_t i;

	options.name = arg;
	for (i = 0; i < rounds; i++) {
		struct fiber_result r = {NULL, 1};

		failed += fiber_run(spawn_some, &options, &options, &r) < 0 || r.value != &options;
	}
	return (void *)failed;
}

static void test_start_of_many_runtimes_at_once(void **state)
{
	static char names[THREADS][8] = {"one", "two", "three", "four", "five", "six"};
	pthread_t threads[THREADS];
	void *failed;
	size_t i;

	(void)state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_rounds, names[i]), 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_of_many_runtimes_at_once),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("race: start", tests, NULL, NULL);
}
