/* SPDX-License-Identifier: MIT */
/* test_isolate.c - a process for each schedule: FIBER_TEST_ISOLATE */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#include "explore/explore.h"

static struct fiber_test_result result;

static int explore(fiber_test_fn *fn, void *arg, struct fiber_test_options options)
{
	options.size = sizeof options;
	memset(&result, 0, sizeof result);
	result.size = sizeof result;
	return fiber_test_explore(fn, arg, &options, &result);
}

/* -- tests that keep something -- */

static int runs;

static void *point(void *arg)
{
	fiber_test_point("p");
	return arg;
}

static void two_points(void)
{
	struct fiber *a, *b;

	fiber_spawn(point, NULL, &a);
	fiber_spawn(point, NULL, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
}

static void just_two_points(void *arg)
{
	(void)arg;
	two_points();
}

/* The first two schedules, which are compared, go well. */
static void fails_from_the_fifth_on(void *arg)
{
	(void)arg;
	two_points();
	fiber_test_assert(++runs < 5);
}

static void one_fiber_more_each_time(void *arg)
{
	(void)arg;
	for (int i = 0; i <= runs; i++)
		two_points();
	runs++;
}

static void test_global_that_is_kept_fails_only_without_isolation(void **state)
{
	(void)state;
	assert_int_equal(explore(fails_from_the_fifth_on, NULL, (struct fiber_test_options){0}), 1);
	assert_int_equal(result.failed, 3);
	assert_int_equal(
		explore(fails_from_the_fifth_on, NULL,
			(struct fiber_test_options){.flags = FIBER_TEST_ISOLATE, .schedules = 100}),
		0);
	assert_int_equal(result.schedules, 100);
	assert_int_equal(runs, 0); /* of this process */
}

static void test_global_that_is_kept_diverges_only_without_isolation(void **state)
{
	(void)state;
	assert_int_equal(explore(one_fiber_more_each_time, NULL, (struct fiber_test_options){0}),
			 1);
	assert_int_equal(result.verdict, FIBER_TEST_DIVERGED);
	assert_int_equal(
		explore(one_fiber_more_each_time, NULL,
			(struct fiber_test_options){.flags = FIBER_TEST_ISOLATE, .schedules = 100}),
		0);
}

/* The text of the report, which the caller frees. */
static char *report_of(fiber_test_fn *fn, struct fiber_test_options options)
{
	struct fib_outcome outcome;
	char *report;

	options.size = sizeof options;
	assert_int_equal(fib_explore(fn, NULL, &options, &outcome), 1);
	assert_int_equal(outcome.count, 1);
	report = outcome.found[0].report;
	outcome.found[0].report = NULL;
	fib_outcome_free(&outcome);
	assert_non_null(report);
	return report;
}

static void fails_always(void *arg)
{
	two_points();
	fiber_test_assert(arg);
}

static void test_report_says_that_a_finding_does_not_come_back(void **state)
{
	static const char keeps[] = "fresh process: the test keeps something from one schedule to "
				    "the next; see FIBER_TEST_ISOLATE and `memory`\n";
	char *report = report_of(fails_from_the_fifth_on, (struct fiber_test_options){0});

	(void)state;
	assert_non_null(strstr(report, keeps));
	free(report);
	report = report_of(fails_always, (struct fiber_test_options){0});
	assert_null(strstr(report, "fresh process"));
	free(report);
}

/* What is outside the process is kept all the same. */
static void other_calls_each_time(void *arg)
{
	for (int i = 0; i <= *(int *)arg; i++)
		two_points();
	++*(int *)arg;
}

static void test_isolated_test_that_differs_has_diverged(void **state)
{
	int *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);

	(void)state;
	assert_true(shared != MAP_FAILED);
	assert_int_equal(explore(other_calls_each_time, shared,
				 (struct fiber_test_options){.flags = FIBER_TEST_ISOLATE}),
			 1);
	assert_int_equal(result.verdict, FIBER_TEST_DIVERGED);
	assert_int_equal(*shared, 3); /* it ran twice, and once for the report */
	munmap(shared, sizeof *shared);
}

/* -- the same schedules as without -- */

static int counter;

static void *add(void *arg)
{
	const int seen = counter;

	fiber_test_point("between");
	counter = seen + 1;
	return arg;
}

static void three_adds(void *arg)
{
	struct fiber *f[3];

	(void)arg;
	counter = 0;
	for (int i = 0; i < 3; i++)
		fiber_spawn(add, NULL, &f[i]);
	for (int i = 0; i < 3; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	fiber_test_assert(counter > 1);
}

static void test_isolation_and_jobs_change_neither_number_nor_token(void **state)
{
	static const char *const strategies[] = {"random", "pct",   "pos", "urw",
						 "surw",   "bound", NULL};
	struct fiber_test_result plain;

	(void)state;
	for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
		assert_int_equal(explore(three_adds, NULL,
					 (struct fiber_test_options){.strategy = strategies[i]}),
				 1);
		plain = result;
		for (unsigned jobs = 1; jobs <= 3; jobs++) {
			assert_int_equal(
				explore(three_adds, NULL,
					(struct fiber_test_options){.strategy = strategies[i],
								    .flags = FIBER_TEST_ISOLATE,
								    .jobs = jobs}),
				1);
			assert_int_equal(result.failed, plain.failed);
			assert_string_equal(result.token, plain.token);
			assert_string_equal(result.message, plain.message);
			assert_int_equal(result.line, plain.line);
		}
	}
}

static void test_exhaustive_counts_the_same_schedules(void **state)
{
	static const char *const here[] = {"here", NULL};
	uint64_t plain;

	(void)state;
	assert_int_equal(explore(just_two_points, NULL,
				 (struct fiber_test_options){.strategy = "exhaustive"}),
			 0);
	plain = result.schedules;
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_int_equal(explore(just_two_points, NULL,
				 (struct fiber_test_options){.strategy = "exhaustive",
							     .flags = FIBER_TEST_ISOLATE}),
			 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_int_equal(result.schedules, plain);
	assert_int_equal(explore(just_two_points, NULL,
				 (struct fiber_test_options){.schedules = 10,
							     .reach = here,
							     .flags = FIBER_TEST_ISOLATE}),
			 1);
	assert_int_equal(result.verdict, FIBER_TEST_UNREACHED);
}

static void reaches(void *arg)
{
	(void)arg;
	fiber_test_reached("here");
}

static void test_what_a_process_reached_counts(void **state)
{
	static const char *const here[] = {"here", NULL};

	(void)state;
	assert_int_equal(explore(reaches, NULL,
				 (struct fiber_test_options){.schedules = 3,
							     .reach = here,
							     .flags = FIBER_TEST_ISOLATE}),
			 0);
}

/* -- ways to end -- */

static void end_in_one_order(void *arg)
{
	static volatile uintptr_t nowhere = 8;

	if (fiber_test_choose(8, "when") != 5)
		return;
	if (strcmp(arg, "crash") == 0)
		*(volatile int *)nowhere = 1;
	if (strcmp(arg, "exit") == 0)
		_exit(3);
	if (strcmp(arg, "abort") == 0) {
		fputs("what it says\n", stderr);
		abort();
	}
	for (;;)
		usleep(1000);
}

static void expect_end(const char *how, enum fiber_test_verdict verdict, const char *message)
{
	assert_int_equal(explore(end_in_one_order, (void *)(uintptr_t)how,
				 (struct fiber_test_options){.flags = FIBER_TEST_ISOLATE,
							     .hang_limit = 200000000}),
			 1);
	assert_int_equal(result.verdict, verdict);
	assert_non_null(strstr(result.message, message));
	assert_int_equal(result.deviations, 1);
}

static void test_each_way_to_end_is_seen(void **state)
{
	(void)state;
	expect_end("crash", FIBER_TEST_CRASHED, "signal 11");
	expect_end("exit", FIBER_TEST_FAILED, "exit(3)");
	expect_end("abort", FIBER_TEST_FAILED, "what it says");
	expect_end("hang", FIBER_TEST_HUNG, "no choice within");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_global_that_is_kept_fails_only_without_isolation),
		cmocka_unit_test(test_global_that_is_kept_diverges_only_without_isolation),
		cmocka_unit_test(test_report_says_that_a_finding_does_not_come_back),
		cmocka_unit_test(test_isolated_test_that_differs_has_diverged),
		cmocka_unit_test(test_isolation_and_jobs_change_neither_number_nor_token),
		cmocka_unit_test(test_exhaustive_counts_the_same_schedules),
		cmocka_unit_test(test_what_a_process_reached_counts),
		cmocka_unit_test(test_each_way_to_end_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
