/* SPDX-License-Identifier: MIT */
/* test_explore_command.c - the command line and the environment of a program with explored tests */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

#define PROGRAM "bugs/deadlock_ab_ba"
#define TOKEN	"ft1-pfdb-03121n5"

/* A word or two that make no sense end with 2 and a line that says why. */
static void test_wrong_words_are_named_and_exit_with_2(void **state)
{
	static const char *const wrong[][3] = {
		{"--nonsense", NULL, "no such option"},
		{"--strategy", "nonsense", "no such strategy"},
		{"--strategy", "pct:0", "the depth of pct is 1 to 20"},
		{"--strategy", "pct:21", "the depth of pct is 1 to 20"},
		{"--strategy", "random,", "no such strategy"},
		{"--strategy", "bound,pos", "go alone"},
		{"--schedules", "many", "not a number"},
		{"--schedules", "-1", "not a number"},
		{"--seed", "99999999999999999999", "too large"},
		{"--steps", "99999999", "too large"},
		{"--time", "5", "not a time"},
		{"--slack", "ms", "not a time"},
		{"--jobs", "257", "too large"},
		{"--replay", "ft2-0000-000", "begins with ft1-"},
		{"--replay", "ft1-pfdb-03121n6", "mistyped or cut"},
		{"--replay", "ft1-0000-0z", "mistyped or cut"},
		{"--at-failure", "explode", "report, abort or stop"},
		{"--seed", NULL, "needs a value"},
		{"no-such-test", NULL, "no test matches"},
		{"--format", "html", "it is text, tap, junit or json"},
		{"--progress", "often", "it is auto, always, never, 0 or 1"},
		{"-o", NULL, "needs a value"},
		{"--timeline", NULL, "needs a value"},
		{"--trace=", NULL, "needs the name of a file"},
		{"--keep-going", "--replay=" TOKEN, "does not go with --replay"},
		{"--format=tap", "--replay=" TOKEN, "does not go with --format"},
		{"-ox", "--replay=" TOKEN, "does not go with --format and -o"},
		{"--list", "--format=tap", "does not go with --format"},
		{"--trace", NULL, "needs --replay"},
		{"--timeline", "x", "needs --replay"},
		{"--at-failure", "stop", "needs --replay"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cli_expect_error(cli_run(PROGRAM, wrong[i][0], wrong[i][1], NULL), 2, PROGRAM,
				 wrong[i][2]);
	cli_expect_error(cli_run(PROGRAM, "--list", "--replay", TOKEN, NULL), 2, PROGRAM,
			 "does not go with --replay");
}

static void test_wrong_variables_are_named_and_exit_with_2(void **state)
{
	static const char *const wrong[][2] = {
		{"FIBER_TEST_STRATEGY=nonsense", "FIBER_TEST_STRATEGY=nonsense: no such strategy"},
		{"FIBER_TEST_SCHEDULES=x", "FIBER_TEST_SCHEDULES=x: not a number"},
		{"FIBER_TEST_TIME=1", "FIBER_TEST_TIME=1: not a time"},
		{"FIBER_TEST_TIME=0x10s", "FIBER_TEST_TIME=0x10s: not a time"},
		{"FIBER_TEST_HANG=1e3s", "FIBER_TEST_HANG=1e3s: not a time"},
		{"FIBER_TEST_SEED=1\033[2J", "FIBER_TEST_SEED=1\\x1b[2J: not a number"},
		{"FIBER_TEST_REPLAY=ft1", "FIBER_TEST_REPLAY=ft1: a token begins with ft1-"},
		{"FIBER_TEST_MINIMIZE=2", "FIBER_TEST_MINIMIZE=2: it is 0 or 1"},
		{"FIBER_TEST_PROGRESS=2", "FIBER_TEST_PROGRESS=2: it is auto"},
		{"FIBER_TEST_HASH=yes", "FIBER_TEST_HASH=yes: it is 0 or 1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *const env[] = {wrong[i][0], NULL};
		const struct harness_how how = {.env = env};

		cli_expect_error(cli_run_how(&how, PROGRAM, NULL), 2, "fiber-test", wrong[i][1]);
	}
}

static void test_command_line_goes_before_the_environment(void **state)
{
	static const char *const env[] = {"FIBER_TEST_SCHEDULES=7", NULL};
	static const struct harness_how how = {.env = env};
	struct harness_process *p;

	(void)state;
	p = cli_run_how(&how, PROGRAM, "twin", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "fiber-test: twin: passed: 7 schedules\n");
	harness_free(p);
	p = cli_run_how(&how, PROGRAM, "--schedules=9", "t*n", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "fiber-test: twin: passed: 9 schedules\n");
	harness_free(p);
}

static void test_list_and_help(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "--list", NULL);

	(void)state;
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "bug\ntwin\n");
	harness_free(p);
	p = cli_run(PROGRAM, "--help", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "--strategy LIST");
	harness_free(p);
}

static void test_version_and_words_after_two_dashes(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "--version", NULL);

	(void)state;
	cli_expect(p, 0);
	assert_memory_equal(p->out.bytes, "libfiber-test ", 14);
	harness_free(p);
	p = cli_run(PROGRAM, "--schedules", "3", "--", "twin", NULL);
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "fiber-test: twin: passed: 3 schedules\n");
	harness_free(p);
	cli_expect_error(cli_run(PROGRAM, "--", "--list", NULL), 2, PROGRAM,
			 "--list: no test matches");
}

/* A token of another test would otherwise look like a test that passes. */
static void test_token_of_no_selected_test_is_refused(void **state)
{
	(void)state;
	cli_expect_error(cli_run(PROGRAM, "--replay", TOKEN, "twin", NULL), 2, PROGRAM,
			 "a token of none of these tests");
}

static void test_replay_shows_the_fibers_and_every_step(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "--replay", TOKEN, "--trace", "bug", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->err.bytes,
		     "fiber-test: bug: deadlock: 2 fibers wait for each other in a cycle\n"
		     "fiber-test: replay: FIBER_TEST_REPLAY=" TOKEN "\n");
	cli_contains(p->err.bytes, "fiber 2 \"\" [suspended: mutex \"bob\" held by 3]\n");
	cli_contains(p->err.bytes, "fiber 3 \"\" [suspended: mutex \"alice\" held by 2]\n");
	cli_contains(p->err.bytes, "in fiber_mutex_lock, called by transfer at deadlock_ab_ba.c:");
	harness_free(p);
}

/* Addresses differ from run to run, the report does not. */
static void test_report_of_a_token_is_the_same_each_time(void **state)
{
	struct harness_process *first = cli_run(PROGRAM, "--replay", TOKEN, "--trace", "bug", NULL);

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		struct harness_process *p =
			cli_run(PROGRAM, "--replay", TOKEN, "--trace", "bug", NULL);

		assert_string_equal(p->err.bytes, first->err.bytes);
		harness_free(p);
	}
	cli_contains(first->err.bytes, "mutex_lock \"bob\"");
	cli_contains(first->err.bytes, "fiber 3 took it in step 4, called by transfer at ");
	harness_free(first);
}

static void test_trace_of_the_report_has_at_most_40_lines(void **state)
{
	struct harness_process *p = cli_run("bugs/spin_for_flag", "--no-minimize", "bug", NULL);
	const char *at;
	unsigned lines = 0;

	(void)state;
	cli_expect(p, 1);
	at = strstr(p->out.bytes, "trace:\n");
	assert_non_null(at);
	for (at += strlen("trace:\n"); (at = strchr(at, '\n')); at++)
		lines++;
	assert_in_range(lines, 30, 40);
	cli_contains(p->out.bytes, "... the trace begins ");
	harness_free(p);
}

/* One fiber that polls and yields leaves no choice to make. */
static void test_fiber_that_spins_alone_is_a_livelock(void **state)
{
	struct harness_process *p = cli_run("bugs/spin_for_flag", "alone", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "fiber-test: alone: livelock: more than 20000 yields");
	harness_free(p);
}

/* The finding of finish() has the place of its assertion, as one in a fiber has. */
static void test_finding_of_finish_has_its_place(void **state)
{
	struct harness_process *p = cli_run("bugs/lost_update", "bug", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "fixtures/bugs/lost_update.c:");
	cli_contains(p->out.bytes, "1 deviation (");
	harness_free(p);
}

/* The line on stderr of a twin, with one setting of its own. */
static void hash_of(const char *program, const char *option, const char *value, char ret[128])
{
	static const char *const env[] = {"FIBER_TEST_HASH=1", NULL};
	static const struct harness_how how = {.env = env};
	struct harness_process *p = cli_run_how(&how, program, option, value, "twin", NULL);

	cli_expect(p, 0);
	cli_contains(p->err.bytes, "fiber-test: twin: hash ");
	cli_contains(p->err.bytes, " of 2000 schedules\n");
	snprintf(ret, 128, "%s", p->err.bytes);
	harness_free(p);
}

static void test_hash_of_all_choices_does_not_depend_on_jobs(void **state)
{
	static const char *const programs[] = {"bugs/philosophers", "bugs/timeout_vs_answer",
					       "bugs/trylock_backoff"};
	char one[128], other[128];

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		hash_of(programs[i], "--jobs", "1", one);
		hash_of(programs[i], "--jobs", "2", other);
		assert_string_equal(one, other);
		hash_of(programs[i], "--jobs", "8", other);
		assert_string_equal(one, other);
		/* It is not the same for whatever is run. */
		hash_of(programs[i], "--seed", "2", other);
		assert_string_not_equal(one, other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_words_are_named_and_exit_with_2),
		cmocka_unit_test(test_wrong_variables_are_named_and_exit_with_2),
		cmocka_unit_test(test_command_line_goes_before_the_environment),
		cmocka_unit_test(test_list_and_help),
		cmocka_unit_test(test_version_and_words_after_two_dashes),
		cmocka_unit_test(test_token_of_no_selected_test_is_refused),
		cmocka_unit_test(test_replay_shows_the_fibers_and_every_step),
		cmocka_unit_test(test_report_of_a_token_is_the_same_each_time),
		cmocka_unit_test(test_trace_of_the_report_has_at_most_40_lines),
		cmocka_unit_test(test_fiber_that_spins_alone_is_a_livelock),
		cmocka_unit_test(test_finding_of_finish_has_its_place),
		cmocka_unit_test(test_hash_of_all_choices_does_not_depend_on_jobs),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
