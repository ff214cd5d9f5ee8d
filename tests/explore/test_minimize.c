/* SPDX-License-Identifier: MIT */
/* test_minimize.c - a finding ends with few deviations, as early and as low as possible */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#include "explore/explore.h"
#include "explore/minimize.h"
#include "token/token.h"

static struct fib_token token;
static unsigned before; /* deviations before minimisation */

/* Explore; the finding's token is in `token`. */
static void find(fiber_test_fn *fn, struct fiber_test_options options)
{
	struct fib_outcome outcome;
	const char *why;

	options.size = sizeof options;
	options.strategy = options.strategy ? options.strategy : "random";
	assert_int_equal(fib_explore(fn, NULL, &options, &outcome), 1);
	assert_int_equal(outcome.count, 1);
	before = outcome.found[0].before;
	assert_int_equal(fib_token_read(outcome.result.token, &token, &why), 0);
	assert_int_equal(token.n, outcome.result.deviations);
	fib_outcome_free(&outcome);
}

static void expect_deviation(unsigned i, unsigned step, unsigned chosen)
{
	assert_true(i < token.n);
	assert_int_equal(token.at[i].step, step);
	assert_int_equal(token.at[i].chosen, chosen);
}

#define CHOICES 20
static unsigned wanted, needed;

static void fails_with_enough(void *arg)
{
	unsigned i, enough = 0;

	(void)arg;
	for (i = 0; i < CHOICES; i++)
		enough += fiber_test_choose(8, "value") >= wanted;
	fiber_test_assert(enough < needed);
}

static void test_deviation_moves_to_the_first_choice_and_the_lowest_alternative(void **state)
{
	(void)state;
	wanted = 3;
	needed = 1;
	find(fails_with_enough, (struct fiber_test_options){0});
	assert_true(before > 5);
	assert_int_equal(token.n, 1);
	expect_deviation(0, 0, 3);
}

static void test_each_of_several_deviations_moves(void **state)
{
	(void)state;
	wanted = 2;
	needed = 3;
	find(fails_with_enough, (struct fiber_test_options){0});
	assert_int_equal(token.n, 3);
	expect_deviation(0, 0, 2);
	expect_deviation(1, 1, 2);
	expect_deviation(2, 2, 2);
}

static void fails_with_the_value(void *arg)
{
	unsigned i, value, last = 0;

	(void)arg;
	for (i = 0; i < CHOICES; i++) {
		value = fiber_test_choose(8, "value");
		last = value > 2 ? value : last;
	}
	if (last)
		fiber_test_fail("value %u", last);
}

static void test_finding_stays_the_same(void **state)
{
	struct fiber_test_result result = {.size = sizeof result};
	const struct fiber_test_options options = {.size = sizeof options, .strategy = "random"};
	unsigned value;

	(void)state;
	find(fails_with_the_value, options);
	assert_int_equal(fiber_test_explore(fails_with_the_value, NULL, &options, &result), 1);
	assert_int_equal(sscanf(result.message, "value %u", &value), 1);
	assert_int_equal(token.n, 1);
	expect_deviation(0, 0, value);
}

/* Removing alone ends with switches to and fro: each makes up for another one. */
static unsigned position;

static void fails_where_it_ends(void *arg)
{
	unsigned i;

	(void)arg;
	position = 0;
	for (i = 0; i < CHOICES; i++)
		position ^= fiber_test_choose(8, "bits");
	fiber_test_assert(position != 5);
}

static void test_one_deviation_is_found_where_none_can_be_removed(void **state)
{
	(void)state;
	find(fails_where_it_ends, (struct fiber_test_options){0});
	assert_true(before > 5);
	assert_int_equal(token.n, 1);
	expect_deviation(0, 0, 5);
}

/* The fault comes first, but the finding that was made has none. */
static void fails_by_fault_or_choice(void *arg)
{
	bool bad = fiber_test_fault("fault");

	(void)arg;
	fiber_test_choose(2, "nothing");
	bad |= fiber_test_choose(2, "bad");
	fiber_test_assert(!bad);
}

static void test_deviation_stays_of_its_kind(void **state)
{
	const struct fiber_test_options options = {.strategy = "exhaustive",
						   .faults = FIBER_TEST_FAULT_ALL};

	(void)state;
	find(fails_by_fault_or_choice, options);
	assert_int_equal(token.n, 1);
	expect_deviation(0, 2, 1);
}

/* A switch earlier than the one that was found. */
static int written;

static void *write_late(void *arg)
{
	fiber_test_point("first");
	fiber_test_point("second");
	written = 1;
	return arg;
}

static void fails_if_not_written(void *arg)
{
	struct fiber *f;
	unsigned i;

	(void)arg;
	written = 0;
	fiber_spawn(write_late, NULL, &f);
	for (i = 0; i < 10; i++)
		fiber_test_point("wait");
	fiber_test_assert(!written);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void test_switch_moves_to_the_first_place_where_it_is_possible(void **state)
{
	unsigned seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		find(fails_if_not_written,
		     (struct fiber_test_options){.seed = seed, .schedules = 100});
		assert_int_equal(token.n, 1);
		expect_deviation(0, 0, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_deviation_moves_to_the_first_choice_and_the_lowest_alternative),
		cmocka_unit_test(test_each_of_several_deviations_moves),
		cmocka_unit_test(test_finding_stays_the_same),
		cmocka_unit_test(test_one_deviation_is_found_where_none_can_be_removed),
		cmocka_unit_test(test_deviation_stays_of_its_kind),
		cmocka_unit_test(test_switch_moves_to_the_first_place_where_it_is_possible),
	};

	fib_minimize_without_time();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
