/* SPDX-License-Identifier: MIT */
/*
 * test_rules.c - what each rule reports of two readings, and what it nearly reports
 *
 * Readings are made by hand: ages, switch counts and holders are what a rule decides by.
 */
#include <stdlib.h>

#include "tests/unit/why/readings.h"

/* Fiber 1 sleeps; `count` others wait for its mutex. */
static void make_queue(unsigned count, int64_t age)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_SLEEP, 0, 0);
	unsigned i;

	stays(&fiber);
	for (i = 0; i < count; i++) {
		fiber = waiting_for(2 + i, FIB_WAIT_MUTEX, 7, 1);
		fiber.row.age = age;
		stays(&fiber);
	}
}

static void test_convoy_is_three_behind_one_for_a_second(void **state)
{
	(void)state;
	make_queue(3, S);
	assert_int_equal(found(&ins_rule_convoy), 1);
	assert_int_equal(findings.all[0].fibers, 3);
	assert_int_equal(findings.all[0].severity, INS_SLOW);
	assert_int_equal(findings.all[0].subject, 0);
}

static void test_convoy_is_not_two(void **state)
{
	(void)state;
	make_queue(2, 9 * S);
	assert_int_equal(found(&ins_rule_convoy), 0);
}

static void test_convoy_is_not_short(void **state)
{
	(void)state;
	make_queue(50, S - 1);
	assert_int_equal(found(&ins_rule_convoy), 0);
}

static void test_convoy_follows_locks_to_the_root_and_leaves_joins_out(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	make_queue(2, 2 * S);
	fiber = waiting_for(10, FIB_WAIT_MUTEX, 8, 2); /* behind fiber 2 */
	stays(&fiber);
	fiber = waiting_for(11, FIB_WAIT_JOIN, 0, 0);
	fiber.row.wait_arg = 1;
	stays(&fiber);
	assert_int_equal(found(&ins_rule_convoy), 1);
	assert_int_equal(findings.all[0].fibers, 3);
}

static void test_convoy_needs_a_root_that_has_not_been_switched(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_SLEEP, 0, 0);

	(void)state;
	was_switched(fiber);
	for (unsigned i = 2; i < 9; i++) {
		fiber = waiting_for(i, FIB_WAIT_MUTEX, 7, 1);
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_convoy), 0);
}

static void test_convoy_behind_a_deadlock_is_the_deadlock(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 1; id <= 2; id++) {
		fiber = waiting_for(id, FIB_WAIT_MUTEX, id, 3 - id);
		stays(&fiber);
	}
	for (unsigned id = 3; id <= 9; id++) {
		fiber = waiting_for(id, FIB_WAIT_MUTEX, 1, 2);
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_convoy), 0);
	assert_int_equal(ins_rule_deadlock.find(&look, &findings), 0);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.all[0].severity, INS_LASTS);
	assert_int_equal(findings.all[0].weight, 2 + 7);
}

static void test_deadlock_with_a_deadline_counts_after_a_second(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 1; id <= 2; id++) {
		fiber = waiting_for(id, FIB_WAIT_MUTEX, id, 3 - id);
		fiber.row.deadline = 100 * S;
		fiber.row.age = S / 2;
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_deadlock), 0);
}

/* A core is of one moment: in it a lock that is handed over has a holder that waits for it. */
static void make_core_with_a_holder_that_waits_for_itself(enum fiber_state other)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 1);

	look.single = true;
	fiber.row.age = S / 100;
	stays(&fiber);
	fiber = in_state(2, other, S / 100);
	stays(&fiber);
}

static void test_deadlock_with_itself_in_a_core_of_a_program_that_runs_is_a_hand_over(void **state)
{
	(void)state;
	make_core_with_a_holder_that_waits_for_itself(FIBER_RUNNING);
	assert_int_equal(found(&ins_rule_deadlock), 0);
}

static void test_deadlock_with_itself_in_a_core_where_nothing_runs_is_one(void **state)
{
	(void)state;
	make_core_with_a_holder_that_waits_for_itself(FIBER_SUSPENDED);
	assert_int_equal(found(&ins_rule_deadlock), 1);
}

/* Two pinned fibers that cross, in a reading of a snapshot that took a millisecond. */
static size_t found_in_snapshot(unsigned flags)
{
	struct ins_fiber fiber;

	look.single = true;
	for (unsigned id = 1; id <= 2; id++) {
		fiber = waiting_for(id, FIB_WAIT_MUTEX, id, 3 - id);
		fiber.row.carrier = (uint16_t)id;
		fiber.row.age = 10 * S;
		fiber.flags = flags;
		stays(&fiber);
	}
	((struct ins_summary *)ins_table_summary(after.table))->sampled_ns = S / 1000;
	return found(&ins_rule_deadlock);
}

/* The age is that of the run. */
static void test_deadlock_of_pinned_fibers_in_a_snapshot_may_be_of_waits_that_just_began(
	void **state)
{
	(void)state;
	assert_int_equal(found_in_snapshot(0), 0);
}

static void test_deadlock_of_pinned_fibers_whose_threads_slept_is_one(void **state)
{
	(void)state;
	assert_int_equal(found_in_snapshot(INS_FIBER_SLEPT), 1);
}

static void test_pinned_is_a_wait_of_a_second(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 0);

	(void)state;
	fiber.row.state = FIBER_RUNNING;
	fiber.row.pins = 1;
	fiber.row.age = S;
	stays(&fiber);
	fiber.row.id = 2;
	fiber.row.age = S / 2;
	stays(&fiber);
	assert_int_equal(found(&ins_rule_pinned), 1);
	assert_int_equal(findings.all[0].fibers, 1);
}

static void test_stack_is_nine_tenths_used(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_SLEEP, 0, 0);

	(void)state;
	fiber.row.stack_size = 100000;
	fiber.row.stack_used = 89999;
	fiber.row.stack_high_water = FIB_ROW_UNKNOWN;
	stays(&fiber);
	fiber.row.id = 2;
	fiber.row.stack_used = 1000;
	fiber.row.stack_high_water = 90000; /* it was once */
	stays(&fiber);
	fiber.row.id = 3;
	fiber.row.stack_high_water = 100000; /* a debugger has read all of it */
	stays(&fiber);
	assert_int_equal(found(&ins_rule_stack), 1);
	assert_int_equal(findings.all[0].fibers, 1);
	assert_int_equal(findings.all[0].subject, 1);
}

static struct ins_fiber make_forgotten(uint64_t id, int64_t age)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_COND, 7, 0);

	fiber.row.flags = FIB_ROW_FORGOTTEN;
	fiber.row.age = age;
	return fiber;
}

static void test_forgotten_is_an_old_wait_that_no_signal_reaches(void **state)
{
	struct ins_fiber fiber = make_forgotten(1, S);

	(void)state;
	stays(&fiber);
	assert_int_equal(found(&ins_rule_forgotten), 1);
	assert_int_equal(findings.all[0].fibers, 1);
	assert_int_equal(findings.all[0].severity, INS_SLOW);
}

static void test_forgotten_is_not_one_that_is_idle_or_being_woken_or_has_a_deadline(void **state)
{
	struct ins_fiber fiber = make_forgotten(1, S / 2);

	(void)state;
	stays(&fiber);
	fiber = make_forgotten(2, S);
	was_switched(fiber);
	fiber = make_forgotten(3, S);
	fiber.row.deadline = 90 * S;
	stays(&fiber);
	fiber = make_forgotten(4, S); /* it is idle */
	fiber.row.flags = 0;
	stays(&fiber);
	fiber = make_forgotten(5, S); /* it has just been claimed */
	fiber.row.flags = 0;
	waiting_put(&before, &fiber);
	fiber.row.flags = FIB_ROW_FORGOTTEN;
	waiting_put(&after, &fiber);
	assert_int_equal(found(&ins_rule_forgotten), 0);
}

/* Two fibers wait for calls; a call has been without a thread for this long. */
static size_t found_offload(uint32_t queued, int64_t since)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_OFFLOAD, 0, 0);

	stays(&fiber);
	fiber.row.id = 2;
	stays(&fiber);
	source.layout.offload_threads = 64;
	source.layout.offload_queued = queued;
	source.layout.offload_since = (uint64_t)since;
	return found(&ins_rule_offload);
}

static void test_offload_is_a_call_that_no_thread_took_for_a_second(void **state)
{
	(void)state;
	assert_int_equal(found_offload(1, 4 * S), 1); /* rows are of 5 s */
	assert_int_equal(findings.all[0].fibers, 2);
}

static void test_offload_is_not_a_burst(void **state)
{
	(void)state;
	assert_int_equal(found_offload(900, 4 * S + 1), 0);
}

static void test_offload_is_not_where_nothing_is_queued_or_the_time_is_nonsense(void **state)
{
	(void)state;
	assert_int_equal(found_offload(0, 1), 0);
	source.layout.offload_queued = 1;
	source.layout.offload_since = UINT64_MAX;
	assert_int_equal(ins_rule_offload.find(&look, &findings), 0);
	assert_int_equal(findings.count, 0);
}

static struct ins_fiber make_failed(uint64_t id, unsigned flags)
{
	struct ins_fiber fiber = in_state(id, FIBER_DEAD, S);

	fiber.row.flags = (uint8_t)flags;
	return fiber;
}

static void test_failed_is_a_background_fiber_that_is_not_joined(void **state)
{
	struct ins_fiber fiber = make_failed(1, FIBER_BACKGROUND | FIB_ROW_FAILED);

	(void)state;
	stays(&fiber);
	fiber = make_failed(2, FIBER_BACKGROUND); /* it has ended well */
	stays(&fiber);
	fiber = make_failed(3, FIB_ROW_FAILED); /* the fiber that joins it gets the error */
	stays(&fiber);
	fiber = make_failed(4, FIBER_BACKGROUND | FIB_ROW_FAILED);
	waiting_put(&before, &fiber); /* it was joined meanwhile */
	fiber = make_failed(5, FIBER_BACKGROUND | FIB_ROW_FAILED);
	waiting_put(&after, &fiber); /* it has just ended */
	assert_int_equal(found(&ins_rule_failed), 1);
	assert_int_equal(findings.all[0].fibers, 1);
	assert_int_equal(findings.all[0].subject, 0);
}

static void test_recorder_is_a_recording_that_has_lost_events(void **state)
{
	(void)state;
	assert_int_equal(found(&ins_rule_recorder), 0);
	source.layout.recording_lost = 17;
	assert_int_equal(ins_rule_recorder.find(&look, &findings), 0);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.all[0].severity, INS_SLOW);
}

static void test_peer_needs_a_process_that_can_be_asked(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 1; id < 20; id++) {
		fiber = waiting_for(id, FIB_WAIT_FD, 0, 0);
		stays(&fiber);
	}
	assert_int_equal(found(&ins_rule_peer), 0);
	look.pid = INT32_MAX;
	assert_int_equal(ins_rule_peer.find(&look, &findings), 0);
	assert_int_equal(findings.count, 0);
}

/* The site has 200 fibers, then `more`; `ended` of the first are gone. */
static void grow(unsigned more, unsigned ended)
{
	for (unsigned id = 1; id <= 200 + more; id++) {
		struct ins_fiber fiber = waiting_for(id, FIB_WAIT_SLEEP, 0, 0);

		if (id <= 200)
			waiting_put(&before, &fiber);
		if (id > ended)
			waiting_put(&after, &fiber);
	}
}

static void test_growth_is_more_and_none_ended(void **state)
{
	(void)state;
	grow(10, 0);
	assert_int_equal(found(&ins_rule_growth), 1);
	assert_int_equal(findings.all[0].fibers, 210);
	assert_int_equal(findings.all[0].weight, 10);
}

static void test_growth_is_measured_from_an_older_reading_if_there_is_one(void **state)
{
	struct waiting old = waiting_new();
	struct ins_fiber fiber;

	(void)state;
	for (unsigned id = 1; id <= 150; id++) {
		fiber = waiting_for(id, FIB_WAIT_SLEEP, 0, 0);
		waiting_put(&old, &fiber);
	}
	grow(0, 0);
	look.single = true;
	look.since = old.table;
	look.since_ago = INS_GROWTH_NS - 1;
	assert_int_equal(found(&ins_rule_growth), 0);
	look.since_ago = INS_GROWTH_NS;
	assert_int_equal(ins_rule_growth.find(&look, &findings), 0);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.all[0].weight, 50);
	waiting_free(&old);
}

static void test_growth_is_not_where_one_has_ended(void **state)
{
	(void)state;
	grow(10, 1);
	assert_int_equal(found(&ins_rule_growth), 0);
}

static void test_growth_is_not_looked_for_where_only_the_reading_took_long(void **state)
{
	(void)state;
	look.wanted = S / 5;
	grow(10, 0);
	assert_int_equal(found(&ins_rule_growth), 0);
}

static void test_growth_is_not_where_nothing_was_added(void **state)
{
	(void)state;
	grow(0, 0);
	assert_int_equal(found(&ins_rule_growth), 0);
}

static void test_findings_are_sorted_worst_first(void **state)
{
	(void)state;
	assert_non_null(ins_findings_add(&findings, &ins_rule_convoy, INS_SLOW));
	findings.all[0].weight = 900;
	assert_non_null(ins_findings_add(&findings, &ins_rule_deadlock, INS_LASTS));
	findings.all[1].weight = 2;
	assert_non_null(ins_findings_add(&findings, &ins_rule_deadlock, INS_LASTS));
	findings.all[2].weight = 5;
	ins_findings_sort(&findings);
	assert_int_equal(findings.all[0].weight, 5);
	assert_int_equal(findings.all[1].weight, 2);
	assert_int_equal(findings.all[2].weight, 900);
}

static void test_rules_have_names_and_help(void **state)
{
	(void)state;
	for (size_t i = 0; ins_rules[i]; i++) {
		assert_true(ins_rules[i]->name[0] && ins_rules[i]->help[0]);
		assert_true(ins_rules[i]->find && ins_rules[i]->say);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE_TEST(test_convoy_is_three_behind_one_for_a_second),
		RULE_TEST(test_convoy_is_not_two),
		RULE_TEST(test_convoy_is_not_short),
		RULE_TEST(test_convoy_follows_locks_to_the_root_and_leaves_joins_out),
		RULE_TEST(test_convoy_needs_a_root_that_has_not_been_switched),
		RULE_TEST(test_convoy_behind_a_deadlock_is_the_deadlock),
		RULE_TEST(test_deadlock_with_a_deadline_counts_after_a_second),
		RULE_TEST(
			test_deadlock_with_itself_in_a_core_of_a_program_that_runs_is_a_hand_over),
		RULE_TEST(test_deadlock_with_itself_in_a_core_where_nothing_runs_is_one),
		RULE_TEST(
			test_deadlock_of_pinned_fibers_in_a_snapshot_may_be_of_waits_that_just_began),
		RULE_TEST(test_deadlock_of_pinned_fibers_whose_threads_slept_is_one),
		RULE_TEST(test_pinned_is_a_wait_of_a_second),
		RULE_TEST(test_stack_is_nine_tenths_used),
		RULE_TEST(test_forgotten_is_an_old_wait_that_no_signal_reaches),
		RULE_TEST(test_forgotten_is_not_one_that_is_idle_or_being_woken_or_has_a_deadline),
		RULE_TEST(test_offload_is_a_call_that_no_thread_took_for_a_second),
		RULE_TEST(test_offload_is_not_a_burst),
		RULE_TEST(test_offload_is_not_where_nothing_is_queued_or_the_time_is_nonsense),
		RULE_TEST(test_failed_is_a_background_fiber_that_is_not_joined),
		RULE_TEST(test_recorder_is_a_recording_that_has_lost_events),
		RULE_TEST(test_peer_needs_a_process_that_can_be_asked),
		RULE_TEST(test_growth_is_more_and_none_ended),
		RULE_TEST(test_growth_is_measured_from_an_older_reading_if_there_is_one),
		RULE_TEST(test_growth_is_not_where_one_has_ended),
		RULE_TEST(test_growth_is_not_looked_for_where_only_the_reading_took_long),
		RULE_TEST(test_growth_is_not_where_nothing_was_added),
		RULE_TEST(test_findings_are_sorted_worst_first),
		RULE_TEST(test_rules_have_names_and_help),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
