/* SPDX-License-Identifier: MIT */
/* test_run.c - fiber_run returns when every fiber has ended, with the results */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <fiber.h>

#include "base/atomic.h"
#include "tests/harness/watchdog.h"
#include "watch/tick.h"

#define MS INT64_C(1000000)

static const struct fiber_runtime_options two = {
	.size = sizeof two, .carriers = 2, .control_path = ""};

static void *twice(void *arg)
{
	return (void *)((intptr_t)arg * 2);
}

static void *give_up(void *arg)
{
	fiber_fail((int)(intptr_t)arg, "on purpose %d", 7);
}

static _Atomic unsigned ended;

static void *end_later(void *arg)
{
	fiber_sleep(2 * MS);
	fib_add(&ended, 1);
	return arg;
}

static void *leave_children(void *arg)
{
	int i;

	for (i = 0; i < 10; i++)
		if (fiber_spawn(end_later, NULL, NULL) < 0)
			return NULL;
	return arg;
}

static void test_run_gives_what_the_function_returned(void **state)
{
	struct fiber_result result = {NULL, 1};

	(void)state;
	assert_int_equal(fiber_run(twice, (void *)21, &two, &result), 0);
	assert_int_equal((intptr_t)result.value, 42);
	assert_int_equal(result.error, 0);
	assert_int_equal(fiber_run(twice, NULL, &two, NULL), 0);
}

static void test_run_without_options_takes_the_defaults(void **state)
{
	struct fiber_result result = {NULL, 1};

	(void)state;
	assert_int_equal(fiber_run(twice, (void *)4, NULL, &result), 0);
	assert_int_equal((intptr_t)result.value, 8);
}

static void test_run_gives_the_error_that_the_fiber_failed_with(void **state)
{
	static const int errors[][2] = {{-EIO, -EIO}, {EIO, -EIO}, {0, -EINVAL}};
	struct fiber_result result;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(fiber_run(give_up, (void *)(intptr_t)errors[i][0], &two, &result),
				 0);
		assert_int_equal(result.error, errors[i][1]);
		assert_null(result.value);
	}
}

static void test_run_waits_for_fibers_that_nobody_joins(void **state)
{
	struct fiber_result result = {NULL, 1};

	(void)state;
	fib_store(&ended, 0);
	assert_int_equal(fiber_run(leave_children, &result, &two, &result), 0);
	assert_non_null(result.value);
	assert_int_equal(fib_load(&ended), 10);
	assert_int_equal(fib_tick_fibers(), 0);
	assert_int_equal(fib_tick_carriers(), 0);
}

static void *look_at_itself(void *arg)
{
	uint64_t *id = arg;

	*id = fiber_id(fiber_self());
	return fiber_runtime_self();
}

static void test_run_counts_ids_on_over_runtimes(void **state)
{
	uint64_t first, second;

	(void)state;
	assert_int_equal(fiber_run(look_at_itself, &first, &two, NULL), 0);
	assert_int_equal(fiber_run(look_at_itself, &second, &two, NULL), 0);
	assert_true(second > first);
	assert_null(fiber_self());
	assert_null(fiber_runtime_self());
}

static void test_run_many_keeps_results_in_order(void **state)
{
	fiber_fn *const fns[] = {twice, give_up, twice, twice};
	void *const args[] = {(void *)1, (void *)-EIO, (void *)3, (void *)4};
	struct fiber_result results[4];

	(void)state;
	memset(results, 0x5a, sizeof results);
	assert_int_equal(fiber_run_many(fns, args, 4, &two, results), 0);
	assert_int_equal((intptr_t)results[0].value, 2);
	assert_int_equal(results[1].error, -EIO);
	assert_int_equal((intptr_t)results[2].value, 6);
	assert_int_equal((intptr_t)results[3].value, 8);
	assert_int_equal(results[0].error | results[2].error | results[3].error, 0);
	assert_int_equal(fiber_run_many(fns, args, 4, &two, NULL), 0);
	assert_int_equal(fiber_run_many(fns, NULL, 1, &two, results), 0);
	assert_null(results[0].value);
}

static void test_run_many_of_none_comes_back(void **state)
{
	(void)state;
	assert_int_equal(fiber_run_many(NULL, NULL, 0, &two, NULL), 0);
}

static void test_run_many_with_one_missing_runs_none(void **state)
{
	fiber_fn *const fns[] = {end_later, end_later, NULL};

	(void)state;
	fib_store(&ended, 0);
	assert_int_equal(fiber_run_many(fns, NULL, 3, &two, NULL), -EINVAL);
	assert_int_equal(fib_load(&ended), 0);
	assert_int_equal(fib_tick_fibers(), 0);
	assert_int_equal(fib_tick_carriers(), 0);
}

static void *run_inside(void *arg)
{
	return (void *)(intptr_t)fiber_run(twice, arg, NULL, NULL);
}

static void test_run_inside_a_fiber_is_refused(void **state)
{
	struct fiber_result result;

	(void)state;
	assert_int_equal(fiber_run(run_inside, NULL, &two, &result), 0);
	assert_int_equal((intptr_t)result.value, -EPERM);
}

static void test_run_with_options_that_make_no_sense_runs_nothing(void **state)
{
	const struct fiber_runtime_options wrong = {.size = sizeof wrong, .carriers = 100000};
	struct fiber_result result = {NULL, 77};

	(void)state;
	fib_store(&ended, 0);
	assert_int_equal(fiber_run(end_later, NULL, &wrong, &result), -EINVAL);
	assert_int_equal(result.error, 77);
	assert_int_equal(fib_load(&ended), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_gives_what_the_function_returned),
		cmocka_unit_test(test_run_without_options_takes_the_defaults),
		cmocka_unit_test(test_run_gives_the_error_that_the_fiber_failed_with),
		cmocka_unit_test(test_run_waits_for_fibers_that_nobody_joins),
		cmocka_unit_test(test_run_counts_ids_on_over_runtimes),
		cmocka_unit_test(test_run_many_keeps_results_in_order),
		cmocka_unit_test(test_run_many_of_none_comes_back),
		cmocka_unit_test(test_run_many_with_one_missing_runs_none),
		cmocka_unit_test(test_run_inside_a_fiber_is_refused),
		cmocka_unit_test(test_run_with_options_that_make_no_sense_runs_nothing),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
