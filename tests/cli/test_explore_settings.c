/* SPDX-License-Identifier: MIT */
/* test_explore_settings.c - each option of a program with explored tests has its effect, and so has its variable */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

#define DEADLOCK "bugs/deadlock_ab_ba"
#define TOKEN	 "ft1-pfdb-03121n5"
#define SETTINGS "reports/settings"

struct effect {
	const char *option, *variable, *value;
	const char *program, *test;
	const char *more; /* another option, or NULL */
	int code;
	const char *text; /* on standard output */
};

/* A pair of lines with another value shows that the value counts. */
static const struct effect effects[] = {
	{"--schedules", "SCHEDULES", "7", DEADLOCK, "twin", NULL, 0, "twin: passed: 7 schedules\n"},
	{"--seed", "SEED", "2", SETTINGS, "random-number", NULL, 1, "failed: 348110\n"},
	{"--seed", "SEED", "1", SETTINGS, "random-number", NULL, 1, "failed: 822465\n"},
	{"--strategy", "STRATEGY", "pos", DEADLOCK, "bug", NULL, 1, " of 2000 (pos), "},
	{"--strategy", "STRATEGY", "pct:4", DEADLOCK, "bug", NULL, 1, " of 2000 (pct:4), "},
	{"--steps", "STEPS", "10", SETTINGS, "twenty-choices", NULL, 1, "livelock: more than 10 "},
	{"--steps", "STEPS", "30", SETTINGS, "twenty-choices", NULL, 0, "passed: 2000 schedules"},
	{"--preemptions", "PREEMPTIONS", "1", DEADLOCK, "twin", "--strategy=exhaustive", 0,
	 "twin: complete: all 29 schedules\n"},
	{"--preemptions", "PREEMPTIONS", "2", DEADLOCK, "twin", "--strategy=exhaustive", 0,
	 "twin: complete: all 177 schedules\n"},
	{"--faults", "FAULTS", "disk,spawn", SETTINGS, "two-faults", "--fault-limit=2", 1,
	 "failed: both failed\n"},
	{"--faults", "FAULTS", "none", SETTINGS, "two-faults", "--fault-limit=2", 0, "passed: "},
	{"--fault-limit", "FAULT_LIMIT", "2", SETTINGS, "two-faults", "--faults=all", 1,
	 "failed: both failed\n"},
	{"--fault-limit", "FAULT_LIMIT", "1", SETTINGS, "two-faults", "--faults=all", 0,
	 "passed: "},
	{"--slack", "SLACK", "none", "bugs/timeout_vs_answer", "bug", NULL, 0, "bug: passed: "},
	{"--slack", "SLACK", "100ms", "bugs/timeout_vs_answer", "bug", NULL, 1, "bug: failed: "},
	{"--jobs", "JOBS", "2", SETTINGS, "many-in-one-process", "--schedules=100", 0, "passed: "},
	{"--jobs", "JOBS", "1", SETTINGS, "many-in-one-process", "--schedules=100", 1,
	 "failed: the 61st schedule of a process\n"},
};

static void test_each_option_and_its_variable_have_their_effect(void **state)
{
	char word[64], variable[64];
	const char *const env[] = {variable, NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *p;

	(void)state;
	for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
		const struct effect *e = &effects[i];

		snprintf(word, sizeof word, "%s=%s", e->option, e->value);
		snprintf(variable, sizeof variable, "FIBER_TEST_%s=%s", e->variable, e->value);
		p = cli_run(e->program, word, e->test, e->more, NULL);
		cli_expect(p, e->code);
		cli_contains(p->out.bytes, e->text);
		harness_free(p);
		p = cli_run_how(&how, e->program, e->test, e->more, NULL);
		cli_expect(p, e->code);
		cli_contains(p->out.bytes, e->text);
		harness_free(p);
	}
}

/* -- of a replay -- */

/* Replay a deadlock with one more variable. */
static struct harness_process *replay_with(const char *variable)
{
	const char *const env[] = {"FIBER_TEST_REPLAY=" TOKEN, variable, NULL};
	const struct harness_how how = {.env = env};

	return cli_run_how(&how, DEADLOCK, NULL);
}

static void test_trace_is_printed_or_written_by_its_variable(void **state)
{
	char path[HARNESS_PATH], variable[HARNESS_PATH + 32];
	struct harness_process *p;
	struct stat st;

	(void)state;
	p = replay_with("FIBER_TEST_TRACE=1");
	cli_expect(p, 1);
	cli_contains(p->err.bytes, "mutex_lock \"alice\"");
	harness_free(p);
	harness_file(path, "trace");
	snprintf(variable, sizeof variable, "FIBER_TEST_TRACE=%s", path);
	cli_ended(replay_with(variable), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 100);
}

static void test_timeline_is_written_by_its_variable(void **state)
{
	char path[HARNESS_PATH], variable[HARNESS_PATH + 32];
	struct harness_process *p;

	(void)state;
	harness_file(path, "timeline");
	snprintf(variable, sizeof variable, "FIBER_TEST_TIMELINE=%s", path);
	cli_ended(replay_with(variable), 1);
	p = cli_run("fibertrace", "report", path, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "deadlock_ab_ba (process ");
	harness_free(p);
}

static void test_failure_aborts_by_its_variable(void **state)
{
	struct harness_process *p = replay_with("FIBER_TEST_AT_FAILURE=abort");

	(void)state;
	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGABRT);
	harness_free(p);
	cli_ended(replay_with("FIBER_TEST_AT_FAILURE=report"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_option_and_its_variable_have_their_effect),
		cmocka_unit_test(test_trace_is_printed_or_written_by_its_variable),
		cmocka_unit_test(test_timeline_is_written_by_its_variable),
		cmocka_unit_test(test_failure_aborts_by_its_variable),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
