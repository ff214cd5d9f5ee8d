/* SPDX-License-Identifier: MIT */
/* test_fiberctl_processes.c - fiberctl without arguments lists the processes that it can query */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/watchdog.h"

/* The line of fiberctl's table that starts with a pid, "" if there is none. */
static const char *line_of(const struct harness_process *p, pid_t pid, char *buf, size_t size)
{
	const char *at = p->out.bytes;

	for (const char *end; (end = strchr(at, '\n')); at = end + 1) {
		int number;

		if (sscanf(at, "%d", &number) != 1 || number != pid)
			continue;
		snprintf(buf, size, "%.*s", (int)(end - at), at);
		return buf;
	}
	return "";
}

static void test_fiberctl_alone_lists_pid_fibers_carriers_policy_and_command(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "33", NULL);
	struct crowd spin = crowd_start(NULL, "spin", "--carriers", "3");
	struct harness_process *p = cli_run("fiberctl", NULL);
	char line[512];

	(void)state;
	cli_expect(p, 0);
	cli_contains(line_of(p, crowd.process->pid, line, sizeof(line)), " 33 ");
	cli_contains(line, " 2 ");
	cli_contains(line, "warn");
	cli_contains(line, "crowd");
	cli_contains(line_of(p, spin.process->pid, line, sizeof(line)), " 11 ");
	cli_contains(line, " 3 ");
	cli_contains(line, "spin");
	harness_free(p);
	crowd_end(&crowd);
	crowd_end(&spin);
}

static void test_fiberctl_alone_leaves_out_the_dead_and_removes_their_sockets(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "3", NULL);
	const pid_t pid = crowd.process->pid;
	char path[HARNESS_PATH], name[64], line[512];
	struct harness_process *p;

	(void)state;
	snprintf(name, sizeof(name), "fiber/%d.sock", pid);
	assert_int_equal(access(harness_file(path, name), F_OK), 0);
	kill(pid, SIGKILL);
	assert_true(harness_wait_end(crowd.process, CLI_SECONDS));
	assert_int_equal(access(path, F_OK), 0);
	p = cli_run("fiberctl", NULL);
	cli_expect(p, 0);
	assert_string_equal(line_of(p, pid, line, sizeof(line)), "");
	assert_int_equal(access(path, F_OK), -1);
	harness_free(p);
	crowd_end(&crowd);
}

static void test_fiberctl_alone_says_so_when_there_is_nobody(void **state)
{
	char folder[HARNESS_PATH], setting[HARNESS_PATH + 32];
	const char *const env[] = {setting, NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *p;

	(void)state;
	snprintf(setting, sizeof(setting), "XDG_RUNTIME_DIR=%s", harness_file(folder, "empty"));
	p = cli_run_how(&how, "fiberctl", NULL);
	assert_true(p->out.size + p->err.size > 0);
	assert_in_range(harness_exit_code(p), 0, 2);
	harness_free(p);
}

static void test_a_program_that_ends_well_removes_its_socket(void **state)
{
	struct harness_process *p = cli_start(NULL, "listening on ", "httpd", NULL);
	char path[HARNESS_PATH], name[64];

	(void)state;
	snprintf(name, sizeof(name), "fiber/%d.sock", p->pid);
	assert_int_equal(access(harness_file(path, name), F_OK), 0);
	harness_end(p);
	cli_expect(p, 0);
	assert_int_equal(access(path, F_OK), -1);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fiberctl_alone_lists_pid_fibers_carriers_policy_and_command),
		cmocka_unit_test(test_fiberctl_alone_leaves_out_the_dead_and_removes_their_sockets),
		cmocka_unit_test(test_fiberctl_alone_says_so_when_there_is_nobody),
		cmocka_unit_test(test_a_program_that_ends_well_removes_its_socket),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
