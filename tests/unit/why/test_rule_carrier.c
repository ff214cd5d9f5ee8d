/* SPDX-License-Identifier: MIT */
/* test_rule_carrier.c - fibers that wait for a carrier: one that is kept, or too much work for all */
#include "tests/unit/why/readings.h"

static void keep_carrier(int64_t runs_for, int64_t waits_for)
{
	struct ins_fiber runs = in_state(1, FIBER_RUNNING, runs_for);
	struct ins_fiber waits = in_state(2, FIBER_RUNNABLE, waits_for);

	stays(&runs);
	stays(&waits);
}

static void test_carrier_is_kept_while_others_can_run(void **state)
{
	(void)state;
	keep_carrier(S / 2, S / 2);
	assert_int_equal(found(&ins_rule_carrier), 1);
	assert_int_equal(findings.all[0].weight, 1);
	assert_int_equal(ins_rule_delay.find(&look, &findings), 0);
	assert_int_equal(findings.count, 1); /* that one is to blame */
}

static void test_carrier_of_one_that_nobody_waits_for_may_be_kept(void **state)
{
	(void)state;
	keep_carrier(60 * S, S / 10);
	assert_int_equal(found(&ins_rule_carrier), 0);
}

static void test_carrier_of_a_halted_process_is_not_kept(void **state)
{
	(void)state;
	look.halted = true;
	keep_carrier(S, S);
	assert_int_equal(found(&ins_rule_carrier), 0);
	assert_int_equal(ins_rule_delay.find(&look, &findings), 0);
	assert_int_equal(findings.count, 0);
}

static void test_delay_is_of_the_99th_percentile(void **state)
{
	struct ins_fiber fiber = in_state(1, FIBER_RUNNING, S / 100);

	(void)state;
	was_switched(fiber);
	for (unsigned id = 2; id < 102; id++) {
		fiber = in_state(id, FIBER_RUNNABLE, id == 2 ? 5 * S : S / 100);
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_delay), 0); /* only one of a hundred */
}

static void test_delay_of_all_is_found(void **state)
{
	struct ins_fiber fiber = in_state(1, FIBER_RUNNING, S / 100);

	(void)state;
	was_switched(fiber);
	for (unsigned id = 2; id < 12; id++) {
		fiber = in_state(id, FIBER_RUNNABLE, S / 4);
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_delay), 1);
	assert_int_equal(findings.all[0].fibers, 10);
}

/* A source without stacks: a finding has no place. */
static int read_nothing(struct ins_source *from, const struct ins_request *request,
			ins_fiber_fn *fn, void *context, struct ins_summary *ret,
			struct ins_error *error)
{
	(void)from;
	(void)request;
	(void)fn;
	(void)context;
	(void)ret;
	(void)error;
	return 0;
}

static const struct ins_source_ops no_stacks = {.read = read_nothing};

static void test_delay_says_the_99th_percentile_and_the_longest(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 2; id < 202; id++) {
		fiber = in_state(id, FIBER_RUNNABLE, id == 7 ? 5 * S : S / 4);
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_delay), 1);
	source.ops = &no_stacks;
	ins_rule_delay.say(&look, &findings.all[0]);
	assert_string_equal(findings.all[0].headline,
			    "200 fibers can run and wait for a carrier, for 250ms at the 99th "
			    "percentile, the longest for 5s");
	assert_string_equal(findings.all[0].evidence[0], "longest: fiber 7 \"f7\"");
}

static void test_carrier_has_fibers_behind_it_that_are_bound_to_it(void **state)
{
	struct ins_fiber fiber = in_state(1, FIBER_RUNNING, 2 * S);

	(void)state;
	source.ops = &no_stacks;
	fiber.row.carrier = 3;
	stays(&fiber);
	for (unsigned id = 2; id < 6; id++) {
		fiber = in_state(id, FIBER_RUNNABLE, S);
		fiber.row.bound = id; /* to carriers 1 to 4 */
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_carrier), 1);
	ins_rule_carrier.say(&look, &findings.all[0]);
	assert_string_equal(findings.all[0].headline,
			    "fiber 1 \"f1\" has kept carrier 3 for 2s, and 4 fibers that can run "
			    "wait, 1 bound to it");
}

static struct ins_fiber in_runtime(uint64_t runtime, struct ins_fiber fiber)
{
	fiber.row.runtime = runtime;
	return fiber;
}

/* Fiber 1 keeps a carrier of runtime 1; ten fibers of another runtime can run and wait. */
static void delay_in_runtime(uint64_t runtime)
{
	struct ins_fiber fiber = in_runtime(1, in_state(1, FIBER_RUNNING, 9 * S));

	stays(&fiber);
	for (unsigned id = 2; id < 12; id++) {
		fiber = in_runtime(runtime, in_state(id, FIBER_RUNNABLE, S));
		stays(&fiber);
	}
}

static void test_carrier_is_not_to_blame_for_fibers_of_another_runtime(void **state)
{
	(void)state;
	delay_in_runtime(2);
	assert_int_equal(found(&ins_rule_carrier), 0);
	assert_int_equal(ins_rule_delay.find(&look, &findings), 0);
	assert_int_equal(findings.count, 1); /* so they are delayed by something else */
	assert_int_equal(findings.all[0].fibers, 10);
}

static void test_carrier_is_to_blame_for_those_of_its_runtime_only(void **state)
{
	struct ins_fiber fiber = in_runtime(1, in_state(20, FIBER_RUNNABLE, S));

	(void)state;
	delay_in_runtime(2);
	stays(&fiber);
	assert_int_equal(found(&ins_rule_carrier), 1);
	assert_int_equal(findings.all[0].weight, 1);
}

static void test_carrier_may_be_to_blame_where_the_runtime_is_unknown(void **state)
{
	(void)state;
	delay_in_runtime(0);
	assert_int_equal(found(&ins_rule_carrier), 1);
	assert_int_equal(findings.all[0].weight, 10);
	assert_int_equal(ins_rule_delay.find(&look, &findings), 0);
	assert_int_equal(findings.count, 1);
}

/* A snapshot of one runtime mixes rows with and without it. */
static void test_delay_is_found_once_where_some_runtimes_are_unknown(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 2; id < 22; id++) {
		fiber = in_runtime(id % 2, in_state(id, FIBER_RUNNABLE, S));
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_delay), 1);
	assert_int_equal(findings.all[0].fibers, 20);
}

static void test_delay_is_not_a_moment_without_a_cpu(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 2; id < 12; id++) {
		fiber = in_state(id, FIBER_RUNNABLE, S / 100);
		waiting_put(&before, &fiber);
		fiber.row.age = S / 4;
		waiting_put(&after, &fiber);
	}
	assert_int_equal(found(&ins_rule_delay), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE_TEST(test_carrier_is_kept_while_others_can_run),
		RULE_TEST(test_carrier_of_one_that_nobody_waits_for_may_be_kept),
		RULE_TEST(test_carrier_of_a_halted_process_is_not_kept),
		RULE_TEST(test_carrier_has_fibers_behind_it_that_are_bound_to_it),
		RULE_TEST(test_delay_is_of_the_99th_percentile),
		RULE_TEST(test_delay_of_all_is_found),
		RULE_TEST(test_delay_says_the_99th_percentile_and_the_longest),
		RULE_TEST(test_carrier_is_not_to_blame_for_fibers_of_another_runtime),
		RULE_TEST(test_carrier_is_to_blame_for_those_of_its_runtime_only),
		RULE_TEST(test_carrier_may_be_to_blame_where_the_runtime_is_unknown),
		RULE_TEST(test_delay_is_found_once_where_some_runtimes_are_unknown),
		RULE_TEST(test_delay_is_not_a_moment_without_a_cpu),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
