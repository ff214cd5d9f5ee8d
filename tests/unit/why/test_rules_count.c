/* SPDX-License-Identifier: MIT */
/* test_rules_count.c - how many fibers each rule has found, and which rules a look can tell */
#include "tests/unit/why/readings.h"

static uint64_t counts[INS_RULES];

/* The count of one rule after all have looked. */
static uint64_t count_of(const struct ins_rule *rule)
{
	size_t i;

	for (i = 0; i < INS_RULES && ins_rules[i] != rule;)
		i++;
	assert_in_range(i, 0, INS_RULES - 1);
	return counts[i];
}

static void count_all(void)
{
	found(&ins_rule_recorder); /* makes the graphs */
	ins_findings_drop(&findings);
	look.earlier = (struct ins_confirmed){0};
	assert_int_equal(ins_rules_count(&look, counts), 0);
}

static int begin_single(void **state)
{
	begin(state);
	look.single = true;
	return 0;
}

static void test_count_is_of_fibers_over_all_findings_of_a_rule(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 1; id <= 4; id++) {
		/* 1 and 2 wait for each other, and so do 3 and 4. */
		fiber = waiting_for(id, FIB_WAIT_MUTEX, id, id % 2 ? id + 1 : id - 1);
		fiber.row.age = 9 * S;
		stays(&fiber);
	}
	count_all();
	assert_int_equal(count_of(&ins_rule_deadlock), 4);
	assert_int_equal(count_of(&ins_rule_convoy), 0);
}

static void test_count_of_a_finding_without_fibers_is_1(void **state)
{
	(void)state;
	source.layout.recording_lost = 7;
	count_all();
	assert_int_equal(count_of(&ins_rule_recorder), 1);
}

/* Three fibers behind each of many roots: more convoys than a list of findings keeps. */
static void test_count_of_one_rule_is_not_displaced_by_many_findings_of_another(void **state)
{
	const unsigned roots = INS_FINDINGS_MOST + 10;
	struct ins_fiber fiber;
	unsigned i, k, id = 1;

	(void)state;
	for (i = 0; i < roots; i++) {
		const unsigned root = id++;

		fiber = waiting_for(root, FIB_WAIT_SLEEP, 0, 0);
		stays(&fiber);
		for (k = 0; k < 3; k++) {
			fiber = waiting_for(id++, FIB_WAIT_MUTEX, 1000 + root, root);
			fiber.row.age = 2 * S;
			stays(&fiber);
		}
	}
	fiber = in_state(id, FIBER_DEAD, S);
	fiber.row.flags = FIBER_BACKGROUND | FIB_ROW_FAILED;
	stays(&fiber);
	count_all();
	/* The ten convoys that are not kept count as one fiber each. */
	assert_int_equal(count_of(&ins_rule_convoy), 3 * INS_FINDINGS_MOST + 10);
	assert_int_equal(count_of(&ins_rule_failed), 1);
}

static void test_a_single_look_cannot_tell_what_needs_more(void **state)
{
	(void)state;
	count_all();
	assert_true(count_of(&ins_rule_growth) == INS_RULE_CANNOT);
	assert_true(count_of(&ins_rule_stopped) == INS_RULE_CANNOT);
	assert_true(count_of(&ins_rule_leaks) == INS_RULE_CANNOT);
	/* No process: a snapshot. */
	assert_true(count_of(&ins_rule_limits) == INS_RULE_CANNOT);
	assert_true(count_of(&ins_rule_peer) == INS_RULE_CANNOT);
	assert_int_equal(count_of(&ins_rule_deadlock), 0);
	assert_int_equal(count_of(&ins_rule_delay), 0);
}

static void test_a_look_at_a_process_can_tell_its_limits(void **state)
{
	(void)state;
	look.pid = 1;
	look.condition.descriptors = look.condition.descriptors_most = 20;
	count_all();
	assert_int_equal(count_of(&ins_rule_limits), 1);
	assert_int_equal(count_of(&ins_rule_peer), 0);
}

static void test_two_readings_can_tell_growth(void **state)
{
	(void)state;
	look.single = false;
	assert_true(ins_rule_can(&ins_rule_growth, &look));
	assert_true(ins_rule_can(&ins_rule_stopped, &look));
	assert_false(ins_rule_can(&ins_rule_leaks, &look));
	look.deep = true;
	assert_true(ins_rule_can(&ins_rule_leaks, &look));
}

#define COUNT_TEST(name) cmocka_unit_test_setup_teardown(name, begin_single, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COUNT_TEST(test_count_is_of_fibers_over_all_findings_of_a_rule),
		COUNT_TEST(test_count_of_a_finding_without_fibers_is_1),
		COUNT_TEST(test_count_of_one_rule_is_not_displaced_by_many_findings_of_another),
		COUNT_TEST(test_a_single_look_cannot_tell_what_needs_more),
		COUNT_TEST(test_a_look_at_a_process_can_tell_its_limits),
		COUNT_TEST(test_two_readings_can_tell_growth),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
