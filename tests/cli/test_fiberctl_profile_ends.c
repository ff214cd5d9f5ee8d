/* SPDX-License-Identifier: MIT */
/* test_fiberctl_profile_ends.c - a profile that ends early has what was collected; others are refused */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/cli/hostile.h"
#include "tests/harness/cli/one_computer.h"
#include "tests/harness/watchdog.h"

static struct harness_process *begin(pid_t of, const char *mode, const char *output)
{
	char path[HARNESS_PATH];
	const char *const argv[] = {harness_program(path, "fiberctl"),
				    "profile",
				    cli_number((uint64_t)of),
				    "--for=1000s",
				    mode,
				    output,
				    NULL};

	return harness_start(argv, NULL);
}

/* The tool has made its first look, or request, and sleeps until the next. */
static bool sleeps(void *arg)
{
	char path[64], text[128] = "";
	long call = -1;
	unsigned long first = 1, second = 1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", *(const pid_t *)arg);
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f))
		sscanf(text, "%ld %lx %lx", &call, &first, &second);
	if (f)
		fclose(f);
	return call == SYS_ppoll && !first && !second;
}

static void end_program(const char *mode)
{
	struct harness_process *of = cli_start(NULL, "ready", "compute", NULL), *p;
	char option[HARNESS_PATH + 16];

	unlink(file);
	snprintf(option, sizeof(option), "-o%s", file);
	p = begin(of->pid, mode, option);
	assert_true(harness_until(sleeps, &p->pid, CLI_SECONDS));
	harness_free(of);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "incomplete: only of the first ");
	harness_free(p);
	/* What was collected is in the file. */
	assert_int_equal(access(file, R_OK), 0);
}

static void test_a_program_that_ends_leaves_what_was_collected(void **state)
{
	(void)state;
	end_program("--cpu");
	end_program("--wait");
}

static void test_an_interrupted_profile_shows_what_was_collected(void **state)
{
	struct harness_process *p = begin(computer->pid, "--wait", NULL);

	(void)state;
	assert_true(harness_until(sleeps, &p->pid, CLI_SECONDS));
	kill(p->pid, SIGINT);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "fiber_sem_wait");
	harness_free(p);
}

/* -- refusals -- */

static void test_bad_input_is_refused(void **state)
{
	static const struct {
		const char *options[3];
		int code;
		const char *says;
	} bad[] = {
		{{"--for=0"}, 64, "--for 0: must be more than 0 and at most an hour"},
		{{"--for=2h"}, 64, "--for 2h: must be more than 0"},
		{{"--for=soon"}, 64, "--for soon"},
		{{"--cpu", "--wait"}, 64, "only one of --cpu, --wait and --block"},
		{{"--block", "--wait"}, 64, "only one of"},
		{{"--json", "--folded"}, 64, "--folded: cannot be combined with --json"},
		{{"--json", "-o", "x"}, 64, "--json: cannot be combined with a file"},
		{{"--force"}, 64, "--force: needs -o"},
		{{"--limit=0"}, 64, "--limit 0"},
		{{"--wait", "--for=50ms", "-o/nonexistent/x"}, 2, "/nonexistent/x"},
		{{"--wait", "--for=50ms", "--svg=/dev/full"}, 2, "/dev/full: is there"},
	};
	const char *const gone = cli_gone();
	size_t i;

	(void)state;
	cli_expect_error(cli_run("fiberctl", "profile", gone, NULL), 2, "fiberctl", gone);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cli_expect_error(cli_run("fiberctl", "profile", cli_number((uint64_t)computer->pid),
					 bad[i].options[0], bad[i].options[1], bad[i].options[2],
					 NULL),
				 bad[i].code, "fiberctl", bad[i].says);
}

static void test_a_file_that_is_there_is_only_replaced_with_force(void **state)
{
	char option[HARNESS_PATH + 16];

	(void)state;
	fclose(fopen(file, "w"));
	snprintf(option, sizeof(option), "-o%s", file);
	cli_expect_error(cli_run("fiberctl", "profile", cli_number((uint64_t)computer->pid),
				 "--wait", "--for=50ms", option, NULL),
			 2, "fiberctl", "--force");
}

static void test_a_snapshot_is_no_running_program(void **state)
{
	struct harness_process *of = cli_start(NULL, "ready", "deadlock", "--sleeper", NULL);
	char snapshot[HARNESS_PATH];

	(void)state;
	harness_file(snapshot, "x.fib");
	cli_ended(cli_run("fiberctl", "snapshot", cli_number((uint64_t)of->pid), "-o", snapshot,
			  NULL),
		  0);
	harness_free(of);
	cli_expect_error(cli_run("fiberctl", "profile", snapshot, "--for=50ms", NULL), 2,
			 "fiberctl", "is a snapshot: only a running program can be profiled");
}

static void test_a_program_that_handles_the_signal_says_so(void **state)
{
	struct harness_process *own = cli_start(NULL, "ready", "compute", "--own-signal", NULL);
	struct harness_process *p = NULL;

	(void)state;
	/* A second is enough for a sample, unless the machine gives it no CPU. */
	do {
		harness_free(p);
		p = cli_run("fiberctl", "profile", cli_number((uint64_t)own->pid), "--for=1s",
			    NULL);
	} while (p->status == 0);
	cli_expect_error(p, 2, "fiberctl", "the program handles or blocks SIGURG");
	harness_free(own);
}

static void test_a_program_that_lets_nobody_change_settings_is_not_sampled(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=ro", NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *ro = cli_start(&how, "ready", "compute", NULL);
	const char *who = cli_number((uint64_t)ro->pid);

	(void)state;
	cli_expect_error(cli_run("fiberctl", "profile", who, "--for=50ms", NULL), 2, "fiberctl",
			 "FIBER_CONTROL=ro");
	/* To look at waits changes nothing. */
	cli_ended(cli_run("fiberctl", "profile", who, "--wait", "--for=50ms", NULL), 0);
	harness_free(ro);
}

static void test_an_older_program_says_so(void **state)
{
	struct hostile older;

	(void)state;
	hostile_start(&older, &(struct hostile_how){.kind = HOSTILE_OLDER, .greets = true});
	cli_expect_error(cli_run("fiberctl", "profile", older.path, "--for=50ms", NULL), 2,
			 "fiberctl", "this program is older than this tool and cannot be profiled");
	hostile_end(&older);
}

static void test_the_audit_has_the_start_of_a_profile(void **state)
{
	struct harness_process *p;

	(void)state;
	cli_run("fiberctl", "profile", cli_number((uint64_t)computer->pid), "--for=50ms", NULL);
	p = cli_run("fiberctl", "audit", cli_number((uint64_t)computer->pid), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, " profile    0 -> 100 ");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program_that_ends_leaves_what_was_collected),
		cmocka_unit_test(test_an_interrupted_profile_shows_what_was_collected),
		cmocka_unit_test(test_bad_input_is_refused),
		cmocka_unit_test(test_a_file_that_is_there_is_only_replaced_with_force),
		cmocka_unit_test(test_a_snapshot_is_no_running_program),
		cmocka_unit_test(test_a_program_that_handles_the_signal_says_so),
		cmocka_unit_test(test_a_program_that_lets_nobody_change_settings_is_not_sampled),
		cmocka_unit_test(test_an_older_program_says_so),
		cmocka_unit_test(test_the_audit_has_the_start_of_a_profile),
	};

	harness_watchdog(170);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, one_computer, one_computer_end);
}
