/* SPDX-License-Identifier: MIT */
/* test_faults.c - which faults the strategies choose, and how many */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

static struct fiber_test_result result;

static struct {
	unsigned schedules, failed[4]; /* schedules; of them, with the n-th fault */
} * counts;

static void count_faults(void *arg)
{
	unsigned i, faults = 0;

	(void)arg;
	counts->schedules++;
	for (i = 0; i < 4; i++) {
		if (!fiber_test_fault("step"))
			continue;
		counts->failed[i]++;
		faults++;
	}
	fiber_test_assert(faults <= 1);
}

static void run_counted(const char *strategy, uint64_t schedules)
{
	const struct fiber_test_options options = {
		.size = sizeof options,
		.strategy = strategy,
		.schedules = schedules,
		.faults = FIBER_TEST_FAULT_SHORT,
	};

	memset(counts, 0, sizeof *counts);
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(count_faults, NULL, &options, &result), 0);
}

static void test_each_fault_takes_each_place_once_and_ends(void **state)
{
	unsigned i;

	(void)state;
	run_counted("each-fault", 0);
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
	assert_int_equal(result.schedules, 1 + 4 + 1);
	for (i = 0; i < 4; i++)
		assert_int_equal(counts->failed[i], 1);
}

static void fail_in_each(void *arg)
{
	count_faults(arg);
	fiber_test_fail("in each schedule");
}

static void test_each_fault_ends_though_each_schedule_fails(void **state)
{
	const struct fiber_test_options options = {
		.size = sizeof options,
		.strategy = "each-fault",
		.faults = FIBER_TEST_FAULT_SHORT,
		.flags = FIBER_TEST_KEEP_GOING,
	};
	unsigned i;

	(void)state;
	memset(counts, 0, sizeof *counts);
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(fail_in_each, NULL, &options, &result), 1);
	/* That of the report, too. */
	assert_in_range(counts->schedules, 1 + 4 + 1, 1 + 4 + 1 + 5);
	for (i = 0; i < 4; i++)
		assert_in_range(counts->failed[i], 1, 2);
}

static void test_exhaustive_takes_each_place_and_none(void **state)
{
	unsigned i;

	(void)state;
	run_counted("exhaustive", 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_int_equal(result.schedules, 5);
	for (i = 0; i < 4; i++)
		assert_int_equal(counts->failed[i], 1);
}

/* Each of the four places and none: a fifth of 1,000 each. */
static void test_a_random_fault_is_anywhere_with_equal_probability(void **state)
{
	unsigned i;

	(void)state;
	run_counted("random", 1000);
	for (i = 0; i < 4; i++)
		assert_in_range(counts->failed[i], 150, 250);
}

static void test_the_portfolio_has_each_fault_every_fifth_time(void **state)
{
	unsigned i;

	(void)state;
	/* 5 of 25: none, and each place once. The others: 16 of 20 with a fault, more or less. */
	run_counted("portfolio", 25);
	for (i = 0; i < 4; i++)
		assert_true(counts->failed[i] >= 1);
}

static void no_place(void *arg)
{
	(void)arg;
}

static void test_without_a_place_each_fault_is_one_schedule(void **state)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .strategy = "each-fault", .faults = FIBER_TEST_FAULT_ALL};

	(void)state;
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(no_place, NULL, &options, &result), 0);
	assert_int_equal(result.schedules, 1);
}

static void fail_at_fault(void *arg)
{
	(void)arg;
	(void)fiber_test_fault("a");
	fiber_test_assert(!fiber_test_fault("b"));
}

static void test_without_faults_none_happens_and_with_them_a_finding_has_a_token(void **state)
{
	struct fiber_test_options options = {.size = sizeof options,
					     .faults = FIBER_TEST_FAULT_DISK};

	(void)state;
	assert_false(fiber_test_fault("outside"));
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(fail_at_fault, NULL, &options, &result), 1);
	assert_int_equal(result.deviations, 1);
	assert_memory_equal(result.token, "ft1-", 4);
	options.faults = 0;
	assert_int_equal(fiber_test_explore(fail_at_fault, NULL, &options, &result), 0);
}

static void test_unknown_kinds_are_refused(void **state)
{
	struct fiber_test_options options = {.size = sizeof options, .faults = 256};

	(void)state;
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(no_place, NULL, &options, &result), -EINVAL);
	options = (struct fiber_test_options){.size = sizeof options, .fault_limit = 1001};
	assert_int_equal(fiber_test_explore(no_place, NULL, &options, &result), -EINVAL);
}

static void two_faults(void *arg)
{
	const bool a = fiber_test_fault("a"), b = fiber_test_fault("b"), c = fiber_test_fault("c");

	(void)arg;
	fiber_test_assert(a + b + c <= 2);
	if (a + b + c == 2)
		fiber_test_reached("two");
}

static void test_the_limit_is_of_one_schedule(void **state)
{
	static const char *const reach[] = {"two", NULL};
	struct fiber_test_options options = {
		.size = sizeof options,
		.strategy = "exhaustive",
		.faults = FIBER_TEST_FAULT_ALL,
		.fault_limit = 2,
		.reach = reach,
	};

	(void)state;
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(two_faults, NULL, &options, &result), 0);
	assert_int_equal(result.schedules, 1 + 3 + 3);
	options.fault_limit = 1;
	assert_int_equal(fiber_test_explore(two_faults, NULL, &options, &result), 1);
	assert_int_equal(result.verdict, FIBER_TEST_UNREACHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_fault_takes_each_place_once_and_ends),
		cmocka_unit_test(test_each_fault_ends_though_each_schedule_fails),
		cmocka_unit_test(test_exhaustive_takes_each_place_and_none),
		cmocka_unit_test(test_a_random_fault_is_anywhere_with_equal_probability),
		cmocka_unit_test(test_the_portfolio_has_each_fault_every_fifth_time),
		cmocka_unit_test(test_without_a_place_each_fault_is_one_schedule),
		cmocka_unit_test(
			test_without_faults_none_happens_and_with_them_a_finding_has_a_token),
		cmocka_unit_test(test_unknown_kinds_are_refused),
		cmocka_unit_test(test_the_limit_is_of_one_schedule),
	};

	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (counts == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
