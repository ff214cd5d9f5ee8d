/* SPDX-License-Identifier: MIT */
/* test_fiberctl_module.c - --module reads the memory of a process; what it does not read, and why */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

/* The program is a copy with a name that no other process has. The name is that of its module too. */
static char name[64], program[HARNESS_PATH], snapshot[HARNESS_PATH];

static int start(void **state)
{
	char from[HARNESS_PATH];

	(void)state;
	snprintf(name, sizeof(name), "module-%d", (int)getpid());
	cli_ended(cli_run("/bin/cp", harness_program(from, "crowd"), harness_file(program, name),
			  NULL),
		  0);
	one_crowd(program, "22", NULL);
	cli_ended(cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "crowd.snap"),
			  NULL),
		  0);
	return 0;
}

/* Assert where the tool has its answer from, and which process that is of. */
static void expect_source(struct harness_process *p, const char *source, pid_t process)
{
	json_t *answer = json_answer(p);

	assert_string_equal(json_text(answer, "source"), source);
	assert_int_equal(json_int(answer, "pid"), process);
	json_decref(answer);
	harness_free(p);
}

static void test_module_makes_each_command_about_fibers_read_the_memory(void **state)
{
	static const char *const commands[][2] = {
		{"list"}, {"show", "1"}, {"bt", "1"}, {"bt", "--all"}, {"stacks"},
		{"tree"}, {"why"},	 {"waits"},   {"deadlock"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *const *c = commands[i];

		expect_source(cli_run("fiberctl", c[0], pid, "--json", c[1], NULL), "control",
			      crowd.process->pid);
		expect_source(
			cli_run("fiberctl", "--module", name, c[0], pid, "--json", c[1], NULL),
			"live", crowd.process->pid);
	}
}

/* Write the path of the program's control socket to buf. */
static void find_socket(char *buf)
{
	json_t *answer = json_well(cli_run("fiberctl", "--json", NULL));
	const json_t *const all = json_object_get(answer, "processes");
	size_t i = 0;

	while (json_int(json_array_get(all, i), "pid") != crowd.process->pid)
		assert_true(++i < json_array_size(all));
	snprintf(buf, HARNESS_PATH, "%s", json_text(json_array_get(all, i), "socket"));
	json_decref(answer);
}

/* A module also has a path; a process has a name and the path of its control socket. */
static void test_module_and_process_may_be_named_in_each_way(void **state)
{
	char socket[HARNESS_PATH];
	const char *const rows[][2] = {{pid, name}, {pid, program}, {name, name}, {socket, name}};
	size_t i;

	(void)state;
	find_socket(socket);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_source(cli_run("fiberctl", "list", rows[i][0], "--json", "--module",
				      rows[i][1], NULL),
			      "live", crowd.process->pid);
}

static void test_module_needs_no_control_socket(void **state)
{
	const char *const off[] = {"FIBER_CONTROL=off", NULL};
	const struct harness_how how = {.env = off};
	struct crowd mute = crowd_start(&how, "crowd", "22", NULL);
	const char *const number = cli_number((uint64_t)mute.process->pid);

	(void)state;
	cli_expect_error(cli_run("fiberctl", "list", number, NULL), 2, "fiberctl",
			 "needs none, nor does --module NAME");
	expect_source(cli_run("fiberctl", "list", number, "--json", "--module", "crowd", NULL),
		      "live", mute.process->pid);
	crowd_end(&mute);
}

static void test_module_that_does_not_exist_is_refused_with_those_that_do(void **state)
{
	const char *const whos[] = {pid, name};
	char there[192];
	size_t i;

	(void)state;
	snprintf(there, sizeof(there),
		 "no module of it is no\\x1bsuch and has a fiber registry; there is one in %s\n",
		 name);
	for (i = 0; i < 4; i++) {
		const char *const tool = i % 2 ? "fibertrace" : "fiberctl";

		cli_expect_error(cli_run(tool, "list", whos[i / 2], "--module", "no\033such", NULL),
				 2, tool, there);
	}
}

static void test_module_needs_a_process_that_is_there(void **state)
{
	const char *const gone = cli_gone();
	const char *const rows[][2] = {
		{gone, gone},
		{"/nosuch", "/nosuch: No such file or directory"},
		{"no-process-has-this", "no process with fibers has that name: give a process id"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cli_expect_error(cli_run("fiberctl", "list", rows[i][0], "--module", name, NULL), 2,
				 "fiberctl", rows[i][1]);
}

static void test_module_does_not_go_with_the_other_commands(void **state)
{
	static const char *const commands[] = {"slow",	   "pinned",  "profile",  "top",
					       "carriers", "metrics", "diff",	  "policy",
					       "watchdog", "serve",   "snapshot", "audit"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		cli_expect_error(cli_run("fiberctl", commands[i], pid, "--module", name, NULL), 64,
				 "fiberctl", "--module: does not go with this command");
	cli_expect_error(cli_run("fiberctl", "--module", name, NULL), 64, "fiberctl",
			 "--module: does not go with this command");
	cli_expect_error(cli_run("fiberctl", "why", "--deep", pid, "--module", name, NULL), 2,
			 "fiberctl", "--deep: needs the registers of all threads");
}

/* A path is that of the file. A process goes before a file of its name, which may be its program. */
static void test_module_of_a_file_is_refused(void **state)
{
	const struct harness_how here = {.folder = harness_folder()};

	(void)state;
	cli_expect_error(cli_run("fiberctl", "list", snapshot, "--module", name, NULL), 2,
			 "fiberctl", "is a snapshot, which has the fibers of one library");
	cli_expect_error(
		cli_run_how(&here, "fiberctl", "list", "crowd.snap", "--module", name, NULL), 2,
		"fiberctl", "crowd.snap: is a snapshot");
	cli_expect_error(cli_run("fiberctl", "list", program, "--module", name, NULL), 2,
			 "fiberctl", "is a file and no process: 'fibertrace --core' reads a core");
	expect_source(
		cli_run_how(&here, "fiberctl", "list", name, "--json", "--module", name, NULL),
		"live", crowd.process->pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_module_makes_each_command_about_fibers_read_the_memory),
		cmocka_unit_test(test_module_and_process_may_be_named_in_each_way),
		cmocka_unit_test(test_module_needs_no_control_socket),
		cmocka_unit_test(test_module_that_does_not_exist_is_refused_with_those_that_do),
		cmocka_unit_test(test_module_needs_a_process_that_is_there),
		cmocka_unit_test(test_module_does_not_go_with_the_other_commands),
		cmocka_unit_test(test_module_of_a_file_is_refused),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
