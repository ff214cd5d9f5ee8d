/* SPDX-License-Identifier: MIT */
/* test_fibertrace_mixed.c - fibers and threads that wait for each other are one graph */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/mixed.h"
#include "tests/harness/watchdog.h"

static void is_cycle(const struct crowd *crowd, const char *target, size_t carriers)
{
	json_t *answer = mixed_answer("deadlock", target, 3);
	const json_t *finding = json_array_get(json_object_get(answer, "findings"), 0);

	assert_int_equal(mixed_size(answer, "findings"), 1);
	assert_string_equal(json_text(finding, "kind"), "cycle");
	assert_true(json_is_true(json_object_get(finding, "deadlock")));
	mixed_all_in(crowd, finding, carriers);
	json_decref(answer);
	answer = mixed_answer("why", target, 3);
	finding = json_array_get(json_object_get(answer, "findings"), 0);
	assert_string_equal(json_text(finding, "rule"), "deadlock");
	json_decref(answer);
}

/* Only waits that are longer than the reading are proof. */
static bool snapshot_proves(void *arg)
{
	char path[HARNESS_PATH];
	struct harness_process *p =
		cli_run("fibertrace", "deadlock", mixed_snapshot(arg, path), NULL);
	const bool found = harness_exit_code(p) == 3;

	harness_free(p);
	return found;
}

static void expect_cycle(const char *line, size_t carriers)
{
	struct crowd crowd = mixed_start(line);

	assert_true(harness_until(snapshot_proves, &crowd, 60));
	mixed_look_everywhere(&crowd, carriers, is_cycle);
}

static void test_a_fiber_and_a_thread_that_cross_are_a_deadlock(void **state)
{
	(void)state;
	expect_cycle("fm tm", 0);
	expect_cycle("fr tm", 0);
}

static void test_rings_of_three_to_six_fibers_and_threads_are_one_deadlock(void **state)
{
	(void)state;
	expect_cycle("fm tm tr", 0);
	expect_cycle("fm tr fr tm", 0);
	expect_cycle("fm fr tm tr fm", 0);
	expect_cycle("fm tm fr tr fm tm", 0);
}

static void test_a_join_of_a_fiber_by_a_thread_is_part_of_a_cycle(void **state)
{
	(void)state;
	expect_cycle("tm fj", 0);
}

static void test_readers_that_are_threads_are_followed(void **state)
{
	(void)state;
	expect_cycle("tR fm", 0);
	expect_cycle("fR tm", 0);
}

static void test_a_mutex_of_the_system_leads_to_the_pinned_fiber_on_its_thread(void **state)
{
	(void)state;
	expect_cycle("pp tm", 1);
}

/* Nothing waits for the fiber itself. */
static void test_a_fiber_on_a_deadlocked_thread_is_behind_the_deadlock(void **state)
{
	struct crowd crowd = mixed_start("pp tp");
	json_t *answer = mixed_answer("deadlock", mixed_pid(&crowd), 3);
	const json_t *finding = json_array_get(json_object_get(answer, "findings"), 0);

	(void)state;
	assert_int_equal(mixed_size(finding, "fiberIds"), 0);
	assert_int_equal(mixed_size(finding, "threadIds"), 2);
	assert_true(mixed_has(json_object_get(finding, "threadIds"), crowd.members[1].id));
	assert_int_equal(json_int(finding, "behind"), 1);
	json_decref(answer);
	crowd_end(&crowd);
}

static void test_a_fiber_that_sleeps_in_a_mutex_of_the_system_is_followed(void **state)
{
	(void)state;
	expect_cycle("fm tp", 1);
	expect_cycle("fm tp fm tp", 2);
	expect_cycle("pp tm fm tp", 2);
}

static void test_a_thread_of_fiber_block_is_a_thread(void **state)
{
	struct crowd crowd = mixed_start("op tp");
	json_t *answer = mixed_answer("deadlock", mixed_pid(&crowd), 3);
	const json_t *finding = json_array_get(json_object_get(answer, "findings"), 0);

	(void)state;
	mixed_all_in(&crowd, finding, 0);
	json_decref(answer);
	crowd_end(&crowd);
}

static void is_alone(const struct crowd *crowd, const char *target, size_t carriers)
{
	json_t *answer = mixed_answer("deadlock", target, 3);

	(void)crowd;
	(void)carriers;
	assert_true(json_int(answer, "found") >= 1);
	json_decref(answer);
	json_decref(mixed_answer("why", target, 3));
}

/* Neither needs proof of no hand-over: its thread slept, or nothing moves in a core. */
static void test_one_that_waits_for_itself_is_a_deadlock_everywhere(void **state)
{
	static const char *const lines[] = {"fp", "tp", "pp", "pp tp"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct crowd crowd = mixed_start(lines[i]);

		assert_true(harness_until(snapshot_proves, &crowd, 60));
		mixed_look_everywhere(&crowd, 0, is_alone);
	}
}

static void test_a_mutex_that_checks_its_owner_has_a_sure_holder(void **state)
{
	(void)state;
	expect_cycle("--aside pe tm", 1);
}

/* Run a command on a fiber and a thread that cross, and assert what it prints. */
static void expect_text(const char *command, const char *last, int code, const char *wanted)
{
	struct crowd crowd = mixed_start("fm tm");
	struct harness_process *p = cli_run("fibertrace", command, mixed_pid(&crowd), last, NULL);

	cli_expect(p, code);
	cli_contains(p->out.bytes, wanted);
	cli_contains(p->out.bytes, "shown 1 of 1 fiber");
	harness_free(p);
	crowd_end(&crowd);
}

static void test_the_texts_name_fibers_and_threads(void **state)
{
	(void)state;
	expect_text("deadlock", NULL, 3,
		    "deadlock: 1 fiber and 1 thread wait for each other in a cycle\n");
	expect_text("waits", NULL, 0, "1 thread waits for fiber 1 \"party-0\" [suspended: mutex");
	expect_text("waits", NULL, 0, "2 of 2 fibers and threads wait for others\n");
	expect_text("why", NULL, 3, ": 1 fiber and 1 thread wait for each other\n");
	expect_text("show", "1", 0, "which fiber 1 \"party-0\" holds: a deadlock, see the command");
}

static void test_the_graph_joins_fibers_and_threads(void **state)
{
	struct crowd crowd = mixed_start("fm tm");
	struct harness_process *p =
		cli_run("fibertrace", "waits", mixed_pid(&crowd), "--dot", NULL);
	char edge[64];

	(void)state;
	cli_expect(p, 0);
	snprintf(edge, sizeof(edge), "\tf1 -> t%" PRIu64 " ", crowd.members[1].id);
	cli_contains(p->out.bytes, edge);
	snprintf(edge, sizeof(edge), "\tt%" PRIu64 " -> f1 ", crowd.members[1].id);
	cli_contains(p->out.bytes, edge);
	harness_free(p);
	crowd_end(&crowd);
}

/* The number of rows and of those that have a holder. */
static size_t held_of(const char *target, size_t *ret_rows)
{
	json_t *answer =
		json_well(cli_run("fibertrace", "list", target, "--threads", "--json", NULL));
	const json_t *rows = json_object_get(answer, "fibers");
	size_t held = 0;

	*ret_rows = json_array_size(rows);
	for (size_t i = 0; i < *ret_rows; i++) {
		const json_t *wait = json_object_get(json_array_get(rows, i), "wait");

		held += json_is_integer(json_object_get(wait, "holderId"));
	}
	assert_true(json_is_true(json_object_get(answer, "threads")));
	json_decref(answer);
	return held;
}

static void test_a_snapshot_has_the_threads_with_their_waits(void **state)
{
	struct crowd crowd = mixed_start("tp tp");
	char snapshot[HARNESS_PATH];
	size_t live, kept;
	json_t *answer;

	(void)state;
	mixed_snapshot(&crowd, snapshot);
	assert_int_equal(held_of(mixed_pid(&crowd), &live), 2);
	assert_int_equal(held_of(snapshot, &kept), 2);
	assert_int_equal(kept, live);
	assert_true(harness_until(snapshot_proves, &crowd, 60));
	answer = mixed_answer("deadlock", snapshot, 3);
	assert_int_equal(json_int(answer, "found"), 1);
	json_decref(answer);
	crowd_end(&crowd);
}

/* Whether `why` finds the deadlock in a new snapshot. */
static bool why_finds(void *arg)
{
	const struct crowd *crowd = arg;
	char snapshot[HARNESS_PATH];
	struct harness_process *p;
	bool found;

	p = cli_run("fiberctl", "why", mixed_snapshot(crowd, snapshot), NULL);
	found = harness_exit_code(p) == 3;
	if (found)
		cli_contains(p->out.bytes, ": 1 fiber and 1 thread wait for each other\n");
	harness_free(p);
	return found;
}

static void test_why_finds_it_in_a_snapshot_once_it_is_old_enough(void **state)
{
	struct crowd crowd = mixed_start("fm tm");

	(void)state;
	assert_true(harness_until(why_finds, &crowd, 60));
	crowd_end(&crowd);
}

static void test_threads_alone_have_their_waits_in_the_library(void **state)
{
	struct crowd crowd = mixed_start("tm tm");
	json_t *answer = json_well(
		cli_run("fibertrace", "list", mixed_pid(&crowd), "--threads", "--json", NULL));

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const json_t *wait =
			json_object_get(json_fiber(answer, crowd.members[i].id), "wait");

		assert_string_equal(json_text(wait, "kind"), "mutex");
		assert_string_equal(json_text(wait, "objectName"), crowd.members[1 - i].name);
		assert_int_equal(json_int(wait, "holderId"), crowd.members[1 - i].id);
	}
	json_decref(answer);
	crowd_end(&crowd);
}

static void test_list_shows_fibers_only(void **state)
{
	struct crowd crowd = mixed_start("fm tm");
	json_t *answer = mixed_answer("list", mixed_pid(&crowd), 0);

	(void)state;
	assert_int_equal(mixed_size(answer, "fibers"), 1);
	json_decref(answer);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fiber_and_a_thread_that_cross_are_a_deadlock),
		cmocka_unit_test(test_rings_of_three_to_six_fibers_and_threads_are_one_deadlock),
		cmocka_unit_test(test_a_join_of_a_fiber_by_a_thread_is_part_of_a_cycle),
		cmocka_unit_test(test_readers_that_are_threads_are_followed),
		cmocka_unit_test(
			test_a_mutex_of_the_system_leads_to_the_pinned_fiber_on_its_thread),
		cmocka_unit_test(test_a_fiber_on_a_deadlocked_thread_is_behind_the_deadlock),
		cmocka_unit_test(test_a_fiber_that_sleeps_in_a_mutex_of_the_system_is_followed),
		cmocka_unit_test(test_a_thread_of_fiber_block_is_a_thread),
		cmocka_unit_test(test_one_that_waits_for_itself_is_a_deadlock_everywhere),
		cmocka_unit_test(test_a_mutex_that_checks_its_owner_has_a_sure_holder),
		cmocka_unit_test(test_the_texts_name_fibers_and_threads),
		cmocka_unit_test(test_the_graph_joins_fibers_and_threads),
		cmocka_unit_test(test_a_snapshot_has_the_threads_with_their_waits),
		cmocka_unit_test(test_why_finds_it_in_a_snapshot_once_it_is_old_enough),
		cmocka_unit_test(test_threads_alone_have_their_waits_in_the_library),
		cmocka_unit_test(test_list_shows_fibers_only),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
