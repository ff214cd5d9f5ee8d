/* SPDX-License-Identifier: MIT */
/* test_explore_descriptors.c - reports name the calls with descriptors that failed, and a token brings them back */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

#define PROGRAM "reports/descriptors"

/* Copy the token of a report. */
static const char *token_of(const char *report, char ret[96])
{
	const char *at = strstr(report, "FIBER_TEST_REPLAY=");

	assert_non_null(at);
	at += strlen("FIBER_TEST_REPLAY=");
	snprintf(ret, 96, "%.*s", (int)strcspn(at, "\n"), at);
	return ret;
}

/* The test fails with this message and shows the fault, and so does a replay of its token. */
static void expect_fault(const char *test, const char *kinds, const char *first, const char *fault)
{
	struct harness_process *p = cli_run(PROGRAM, "--strategy", "each-fault", "--faults", kinds,
					    "--keep-going", test, NULL);
	const char *at;
	char token[96];

	cli_expect(p, 1);
	cli_contains(p->out.bytes, fault);
	at = strstr(p->out.bytes, first);
	assert_non_null(at);
	token_of(at, token);
	harness_free(p);
	p = cli_run(PROGRAM, "--faults", kinds, "--replay", token, "--trace", test, NULL);
	cli_expect(p, 1);
	cli_contains(p->err.bytes, first);
	cli_contains(p->err.bytes, fault);
	harness_free(p);
}

static void test_lost_and_overtaken_datagrams_come_back_by_their_token(void **state)
{
	(void)state;
	expect_fault("datagrams", "reset", "datagrams: failed: the first is lost\n",
		     "fault: sendto: the datagram is lost ");
	expect_fault("datagrams", "reset", "datagrams: failed: they changed places\n",
		     "fault: sendto: the datagram overtakes the one before it ");
}

static void test_failed_calls_of_the_program_are_named_with_their_place(void **state)
{
	(void)state;
	expect_fault("opening", "descriptors", "opening: failed: socket: EMFILE\n",
		     "fault: socket: EMFILE  opening at descriptors.c:");
	expect_fault("opening", "descriptors", "opening: failed: open: ENFILE\n",
		     "fault: open: ENFILE  opening at descriptors.c:");
	expect_fault("opening", "disk", "opening: failed: open: EIO\n",
		     "fault: open: EIO  opening at descriptors.c:");
}

/* "step fiber what place": the place of each step is in the program. */
static void expect_places_in(const char *trace, const char *file)
{
	const char *line = trace, *end;
	unsigned n = 0;
	char text[256];

	while ((end = strchr(line, '\n'))) {
		snprintf(text, sizeof text, "%.*s", (int)(end - line), line);
		if (strstr(text, ".c:") && ++n && !strstr(text, file))
			fail_msg("'%s' is not in %s", text, file);
		line = end + 1;
	}
	assert_true(n >= 12);
}

static void test_calls_that_are_made_of_others_have_the_place_of_the_program(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "composed", NULL);
	char token[96];

	(void)state;
	cli_expect(p, 1);
	token_of(p->out.bytes, token);
	harness_free(p);
	p = cli_run(PROGRAM, "--replay", token, "--trace", "composed", NULL);
	cli_expect(p, 1);
	cli_contains(p->err.bytes, "to show the trace\n");
	expect_places_in(p->err.bytes, " at descriptors.c:");
	harness_free(p);
}

static void test_fault_in_a_part_of_a_call_has_the_place_of_the_program(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "--faults", "reset", "--strategy",
					    "each-fault", "--keep-going", "composed", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "fault: write: ECONNRESET ");
	cli_contains(p->out.bytes, "fault: read: ECONNRESET ");
	expect_places_in(p->out.bytes, "descriptors.c:");
	harness_free(p);
}

static void test_report_says_that_the_outside_world_was_used(void **state)
{
	static const char line[] =
		"\nthis schedule used the outside world; its replay may differ\n";
	struct harness_process *p = cli_run(PROGRAM, "child", NULL);
	char token[96];

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "child: failed: the child has ended\n");
	cli_contains(p->out.bytes, line);
	token_of(p->out.bytes, token);
	harness_free(p);
	p = cli_run(PROGRAM, "--replay", token, "child", NULL);
	cli_expect(p, 1);
	cli_contains(p->err.bytes, line);
	harness_free(p);
	p = cli_run(PROGRAM, "--faults", "reset", "--strategy", "each-fault", "datagrams", NULL);
	cli_expect(p, 1);
	assert_null(strstr(p->out.bytes, "outside world"));
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_and_overtaken_datagrams_come_back_by_their_token),
		cmocka_unit_test(test_failed_calls_of_the_program_are_named_with_their_place),
		cmocka_unit_test(test_calls_that_are_made_of_others_have_the_place_of_the_program),
		cmocka_unit_test(test_fault_in_a_part_of_a_call_has_the_place_of_the_program),
		cmocka_unit_test(test_report_says_that_the_outside_world_was_used),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
