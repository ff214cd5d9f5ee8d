/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_profile.c - the modes and outputs of 'profile'
 *
 * A sample of a program that computes comes when the machine gives it a CPU. So a profile in which a
 * test needs samples is made again, until there are some.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_computer.h"
#include "tests/harness/watchdog.h"

static const char *pid;

/* ThreadSanitizer calls handlers late, so a sample is of another function. */
static void skip_without_signals(void)
{
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("handlers are called late under ThreadSanitizer");
}

struct asked {
	const char *options[3];
	const char *wanted;
	struct harness_process *p;
};

static bool has_wanted(void *arg)
{
	struct asked *a = arg;

	harness_free(a->p);
	a->p = cli_run("fiberctl", "profile", pid, "--for=500ms", a->options[0], a->options[1],
		       a->options[2], NULL);
	cli_expect(a->p, 0);
	return strstr(a->p->out.bytes, a->wanted) != NULL;
}

/* Profile the fixture until standard output contains `wanted`. The caller frees the process. */
static struct harness_process *profiled(const char *wanted, const char *first, const char *second)
{
	struct asked a = {.options = {first, second}, .wanted = wanted};

	pid = cli_number((uint64_t)computer->pid);
	assert_true(harness_until(has_wanted, &a, CLI_SECONDS));
	return a.p;
}

/* Run `go tool pprof` on the file; it must not complain. The caller frees the process. */
static struct harness_process *pprof(const char *how)
{
	struct harness_process *p;

	if (access("/usr/bin/go", X_OK) != 0)
		fail_msg("go is not installed: make deps installs golang-go, with go tool pprof");
	p = cli_run("/usr/bin/go", "tool", "pprof", how, file, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	return p;
}

static void test_cpu_has_the_functions_that_compute(void **state)
{
	struct harness_process *p;

	(void)state;
	skip_without_signals();
	p = profiled("compute_three at fixtures/compute.c", NULL, NULL);
	cli_contains(p->out.bytes, "cpu of compute (process ");
	cli_contains(p->out.bytes, "SELF      %       TOTAL      %   SAMPLES  FUNCTION\n");
	cli_contains(p->out.bytes, "three_main at fixtures/compute.c");
	assert_null(strstr(p->out.bytes, "incomplete"));
	harness_free(p);
	harness_free(profiled("three_main;compute_three ", "--folded", "--cpu"));
}

/* Profile until the file has both functions. */
static bool has_both(void *arg)
{
	char option[HARNESS_PATH + 16];
	struct harness_process *p;
	bool both;

	(void)arg;
	snprintf(option, sizeof(option), "-o%s", file);
	harness_free(profiled(" stack", option, "--force"));
	p = pprof("-top");
	cli_contains(p->out.bytes, "File: compute\n");
	cli_contains(p->out.bytes, "Type: cpu\n");
	both = strstr(p->out.bytes, " compute_three\n") && strstr(p->out.bytes, " compute_one\n") &&
	       strstr(p->out.bytes, " three_main\n");
	harness_free(p);
	return both;
}

static void test_pprof_reads_the_file(void **state)
{
	struct harness_process *p;

	(void)state;
	skip_without_signals();
	assert_true(harness_until(has_both, NULL, CLI_SECONDS));
	p = pprof("-raw");
	cli_contains(p->out.bytes, "PeriodType: cpu nanoseconds\nPeriod: 10000000\n");
	cli_contains(p->out.bytes, "samples/count cpu/nanoseconds[dflt]\n");
	cli_contains(p->out.bytes, "compute_one fixtures/compute.c:");
	harness_free(p);
}

/* The fibers of compute wait in turn. Those of deadlock have begun to wait when it is ready, and never stop. */
static void test_standard_output_has_the_file_and_nothing_else(void **state)
{
	char command[2 * HARNESS_PATH + 128], tool[HARNESS_PATH];
	struct harness_process *deadlock = cli_start(NULL, "ready", "deadlock", "--crossing", NULL);
	struct harness_process *p;

	(void)state;
	snprintf(command, sizeof(command), "%s profile %d --wait --for 200ms -o - > %s",
		 harness_program(tool, "fiberctl"), (int)deadlock->pid, file);
	cli_ended(cli_run("/bin/sh", "-c", command, NULL), 0);
	p = pprof("-top");
	cli_contains(p->out.bytes, "Type: delay\n");
	cli_contains(p->out.bytes, "fiber_mutex_lock\n");
	harness_free(p);
	harness_free(deadlock);
}

static void test_json_has_every_function_with_both_times(void **state)
{
	struct harness_process *p;
	json_t *answer, *row, *profile;
	json_int_t self = 0;
	size_t i;

	(void)state;
	skip_without_signals();
	p = profiled("compute_three", "--json", NULL);
	answer = json_answer(p);
	json_promise(answer, "answer", JSON_ANSWER " functions:a profile:o problems:a");
	profile = json_object_get(answer, "profile");
	json_promise(profile, "profile",
		     "mode:s wantedNs:i tookNs:i number:i timeNs:i truncated:i lost:i looks:i "
		     "lookingNs:i");
	assert_string_equal(json_text(profile, "mode"), "cpu");
	assert_int_equal(json_int(profile, "wantedNs"), 500000000);
	assert_true(json_int(profile, "tookNs") >= 500000000);
	json_array_foreach (json_object_get(answer, "functions"), i, row) {
		json_promise(row, "function",
			     "function:s file:s? selfNs:i selfNumber:i totalNs:i totalNumber:i");
		assert_true(json_int(row, "selfNs") <= json_int(row, "totalNs"));
		self += json_int(row, "selfNs");
	}
	/* Every stack has one innermost function. */
	assert_int_equal(self, json_int(profile, "timeNs"));
	json_decref(answer);
	harness_free(p);
}

/* The fibers of crowd wait for ever: each look sees all of them, and each counts for the whole time. */
static void test_wait_has_every_wait_for_the_whole_time(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "120", NULL);
	struct harness_process *p =
		cli_run("fiberctl", "profile", cli_number((uint64_t)crowd.process->pid), "--wait",
			"--for=300ms", "--json", NULL);
	json_t *answer = json_well(p), *profile = json_object_get(answer, "profile");
	size_t i;
	json_int_t waiting = 0;

	(void)state;
	for (i = 0; i < crowd.count; i++)
		waiting += crowd_walkable(&crowd.members[i]) &&
			   strcmp(crowd.members[i].kind, "created") != 0;
	assert_string_equal(json_text(profile, "mode"), "wait");
	assert_int_equal(json_int(profile, "number"), waiting);
	assert_true(json_int(profile, "looks") >= 2);
	assert_int_equal(json_int(profile, "timeNs"), waiting * json_int(profile, "tookNs"));
	json_decref(answer);
	crowd_end(&crowd);
}

/* Below a waiter stands what it waits for, with the holder, and the holder's own stack. */
static void test_block_names_what_is_waited_for_and_who_holds_it(void **state)
{
	struct harness_process *deadlock =
		cli_start(NULL, "ready", "deadlock", "--crossing", "--thread-asleep", NULL);
	const char *who = cli_number((uint64_t)deadlock->pid);
	struct harness_process *p =
		cli_run("fiberctl", "profile", who, "--block", "--for=300ms", "--folded", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes,
		     "[deadlock];[mutex_\"lock-0\"_held_by_crossing-0];member_main;lock;"
		     "fiber_mutex_lock;[mutex_\"lock-1\"_held_by_crossing-1];member_main;lock;"
		     "fiber_mutex_lock ");
	cli_contains(p->out.bytes, "[mutex_\"asleep\"_held_by_thread_");
	harness_free(p);
	p = cli_run("fiberctl", "profile", who, "--block", "--for=300ms", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, ": 3 waits, ");
	harness_free(p);
	harness_free(deadlock);
}

/* A fiber that waits for time or a descriptor waits behind no other. */
static void test_block_leaves_out_waits_without_a_holder(void **state)
{
	struct harness_process *deadlock = cli_start(NULL, "ready", "deadlock", "--sleeper", NULL);
	struct harness_process *p =
		cli_run("fiberctl", "profile", cli_number((uint64_t)deadlock->pid), "--block",
			"--for=200ms", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, ": 0 waits, 0s\n");
	harness_free(p);
	harness_free(deadlock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_has_the_functions_that_compute),
		cmocka_unit_test(test_pprof_reads_the_file),
		cmocka_unit_test(test_standard_output_has_the_file_and_nothing_else),
		cmocka_unit_test(test_json_has_every_function_with_both_times),
		cmocka_unit_test(test_wait_has_every_wait_for_the_whole_time),
		cmocka_unit_test(test_block_names_what_is_waited_for_and_who_holds_it),
		cmocka_unit_test(test_block_leaves_out_waits_without_a_holder),
	};

	harness_watchdog(170);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, one_computer, one_computer_end);
}
