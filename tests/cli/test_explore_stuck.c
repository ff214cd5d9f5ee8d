/* SPDX-License-Identifier: MIT */
/* test_explore_stuck.c - the report of a deadlock says what no fiber is left to do */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define PROGRAM "reports/stuck"

static void expect_report(const char *test, const char *first, const char *text)
{
	struct harness_process *p = cli_run(PROGRAM, "--schedules", "5", test, NULL);
	char line[256];

	cli_expect(p, 1);
	snprintf(line, sizeof line, "fiber-test: %s: deadlock: %s\n", test, first);
	cli_contains(p->out.bytes, line);
	cli_contains(p->out.bytes, text);
	harness_free(p);
}

static void test_each_wait_says_what_no_fiber_is_left_to_do(void **state)
{
	static const char *const tests[][2] = {
		{"on_cond", "\n  no fiber is left that could signal it\n"},
		{"on_sem", "\n  no fiber is left that could post it\n"},
		{"on_event", "\n  no fiber is left that could set it\n"},
		{"on_park", "\n  no fiber is left that could unpark it\n"},
		{"on_barrier", "\n  no fiber is left that could reach it\n"},
		{"on_waitgroup", "\n  no fiber is left that could count it down\n"},
		{"on_send", "\n  no fiber is left that could receive from it or close it\n"},
		{"on_last_reference",
		 "\n  no fiber is left that could send to it or close it, and the "
		 "channel has no other reference\n"},
		{"on_select", "\n  no fiber is left that could make one of its cases ready\n"},
		{"on_socket", "\n  no fiber is left that could make it ready\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		expect_report(tests[i][0], "1 fiber waits and no other fiber can end that",
			      tests[i][1]);
	expect_report("on_read_lock", "2 fibers wait and no other fiber can end that",
		      "\n  no fiber is left that could unlock it\n");
}

/* The line of `fiberctl deadlock`. */
static void test_fiber_that_joins_its_ancestor_is_a_deadlock_of_its_own(void **state)
{
	(void)state;
	expect_report(
		"on_ancestor", "a fiber joins its ancestor, which waits for it",
		"deadlock: fiber 3 \"\" joins its ancestor fiber 2 \"\", whose descendants all "
		"wait for it or cannot go on either\nfiber 3 \"\" [suspended: join 2]\n");
}

static void test_nothing_is_said_while_a_fiber_can_run(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "--schedules", "5", "not_stuck", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "[suspended: event 1]\n");
	assert_null(strstr(p->out.bytes, "no fiber is left"));
	harness_free(p);
}

/* The first fiber of the first test. */
static json_t *wait_of(json_t *answer)
{
	json_t *test = json_array_get(json_object_get(answer, "tests"), 0);

	return json_object_get(json_array_get(json_object_get(test, "fibers"), 0), "wait");
}

static void test_json_says_it_too(void **state)
{
	json_t *answer = json_ended(
		cli_run(PROGRAM, "--schedules", "5", "--format=json", "on_event", NULL), 1);

	(void)state;
	assert_string_equal(json_text(wait_of(answer), "endless"),
			    "no fiber is left that could set it");
	json_decref(answer);
	answer = json_ended(
		cli_run(PROGRAM, "--schedules", "5", "--format=json", "on_ancestor", NULL), 1);
	assert_string_equal(json_text(wait_of(answer), "endless"),
			    "no fiber is left that could set it");
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_wait_says_what_no_fiber_is_left_to_do),
		cmocka_unit_test(test_fiber_that_joins_its_ancestor_is_a_deadlock_of_its_own),
		cmocka_unit_test(test_nothing_is_said_while_a_fiber_can_run),
		cmocka_unit_test(test_json_says_it_too),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
