/* SPDX-License-Identifier: MIT */
/*
 * test_explore_trouble.c - no process, no memory, processes that are stopped or killed from outside,
 * and the progress line
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/terminal.h"
#include "tests/harness/watchdog.h"

#define PROGRAM "reports/outcomes"

static void test_no_process_is_said(void **state)
{
	static const struct harness_how how = {.forbid = SYS_clone};
	struct harness_process *p;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("LeakSanitizer starts a thread");
	p = cli_run_how(&how, PROGRAM, "passing", "nine", NULL);
	cli_expect(p, 2);
	assert_string_equal(p->out.bytes,
			    "fiber-test: passing: cannot be explored: no process can be started: "
			    "Resource temporarily unavailable\n"
			    "fiber-test: nine: cannot be explored: no process can be started: "
			    "Resource temporarily unavailable\n");
	harness_free(p);
}

static void test_no_shared_memory_is_said(void **state)
{
	static const struct harness_how how = {.forbid = SYS_memfd_create};
	struct harness_process *p = cli_run_how(&how, PROGRAM, "passing", NULL);

	(void)state;
	cli_expect(p, 2);
	assert_string_equal(p->out.bytes, "fiber-test: passing: cannot be explored: "
					  "Cannot allocate memory\n");
	harness_free(p);
}

static bool little_memory(const void *bytes)
{
	const rlim_t n = *(const rlim_t *)bytes;

	return setrlimit(RLIMIT_AS, &(struct rlimit){n, n}) == 0;
}

static void test_no_memory_is_no_pass(void **state)
{
	static const rlim_t few = 40u << 20;
	static const struct harness_how how = {.enter = little_memory, .place = &few};
	struct harness_process *p;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("a sanitizer needs its shadow memory");
	/* Room for the choices of a schedule. */
	p = cli_run_how(&how, PROGRAM, "--steps", "10000000", "passing", NULL);
	cli_expect(p, 2);
	assert_string_equal(p->out.bytes, "fiber-test: passing: cannot be explored: "
					  "Cannot allocate memory\n");
	harness_free(p);
}

/* The child of a process; 0: none yet. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *in;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
	in = fopen(path, "r");
	if (in) {
		if (fscanf(in, "%d", &child) != 1)
			child = 0;
		fclose(in);
	}
	return child;
}

static bool has_a_child(void *pid)
{
	return child_of(*(pid_t *)pid) != 0;
}

static void hit_child(int signal, const char *message)
{
	char program[HARNESS_PATH];
	const char *const argv[] = {harness_program(program, PROGRAM),
				    "--time",
				    "none",
				    "--schedules",
				    "99999999",
				    "--hang",
				    "none",
				    "slow",
				    NULL};
	struct harness_process *p = harness_start(argv, NULL);

	assert_true(harness_until(has_a_child, &p->pid, CLI_SECONDS));
	kill(child_of(p->pid), signal);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	cli_expect(p, 1);
	cli_contains(p->out.bytes, message);
	cli_contains(p->out.bytes, "this did not happen again in a fresh process: ");
	harness_free(p);
}

static void test_child_that_is_hit_from_outside_is_no_pass_and_no_hang(void **state)
{
	(void)state;
	hit_child(SIGKILL, "fiber-test: slow: crashed: killed by SIGKILL: ");
	hit_child(SIGSTOP, "fiber-test: slow: crashed: stopped by signal 19");
}

/* -- progress -- */

static void test_progress_is_on_a_terminal_and_gone_at_the_end(void **state)
{
	struct terminal *t = terminal_start("xterm", PROGRAM, "--schedules", "600", "slow", NULL);

	(void)state;
	terminal_await(t, " of 600 schedules, ");
	assert_true(terminal_has(t, "/s, random,pct:3,pos,urw,surw, 0 findings, "));
	assert_true(terminal_has(t, " s left\033[K"));
	terminal_await(t, "\r\033[Kfiber-test: slow: passed: 600 schedules");
	terminal_end(t);
}

static void test_progress_elsewhere_only_on_request(void **state)
{
	static const char *const env[] = {"FIBER_TEST_PROGRESS=1", NULL};
	static const struct harness_how how = {.env = env};
	struct harness_process *p = cli_run(PROGRAM, "--schedules", "300", "slow", NULL);

	(void)state;
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
	p = cli_run_how(&how, PROGRAM, "--schedules", "300", "slow", NULL);
	cli_expect(p, 0);
	cli_contains(p->err.bytes, "\rslow: ");
	assert_string_equal(p->err.bytes + p->err.size - 4, "\r\033[K");
	harness_free(p);
	p = cli_run_how(&how, PROGRAM, "--progress", "never", "--schedules", "300", "slow", NULL);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
}

/* Without a limit the number of schedules is estimated. */
static void test_progress_of_exhaustive_says_how_much_is_left(void **state)
{
	struct harness_process *p = cli_run("bugs/philosophers", "--strategy", "exhaustive",
					    "--time", "1s", "--progress", "always", "twin-5", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->err.bytes, " of ~");
	cli_contains(p->err.bytes, " schedules, ");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_process_is_said),
		cmocka_unit_test(test_no_shared_memory_is_said),
		cmocka_unit_test(test_no_memory_is_no_pass),
		cmocka_unit_test(test_child_that_is_hit_from_outside_is_no_pass_and_no_hang),
		cmocka_unit_test(test_progress_is_on_a_terminal_and_gone_at_the_end),
		cmocka_unit_test(test_progress_elsewhere_only_on_request),
		cmocka_unit_test(test_progress_of_exhaustive_says_how_much_is_left),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
