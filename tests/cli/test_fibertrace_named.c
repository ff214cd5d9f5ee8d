/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_named.c - find a process by the name that it sets, else by the system's name for
 * it
 *
 * Fixtures run as copies with unique names: all processes of the machine are searched, not a folder
 * of sockets.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static const char *const off_env[] = {"FIBER_CONTROL=off", NULL};
static const struct harness_how off = {.env = off_env};

/* A unique name of this test, longer than the system keeps. */
static const char *name_of(const char *what)
{
	static char name[4][64];
	static unsigned turn;
	char *const at = name[turn++ % 4];

	snprintf(at, sizeof(name[0]), "named-%d-%s", (int)getpid(), what);
	return at;
}

/* A unique name of at most 15 bytes. */
static const char *short_name(char letter)
{
	static char name[4][32];
	static unsigned turn;
	char *const at = name[turn++ % 4];

	snprintf(at, sizeof(name[0]), "n%d%c", (int)getpid(), letter);
	return at;
}

static void well(struct harness_process *p)
{
	cli_ended(p, 0);
}

/* A copy of a built program, or of a file, with this name in a subfolder of the test's folder. */
static const char *copy(const char *program, const char *folder, const char *name)
{
	static char to[4][HARNESS_PATH];
	static unsigned turn;
	char from[HARNESS_PATH], in[HARNESS_PATH];
	char *const at = to[turn++ % 4];

	if (program[0] == '/')
		snprintf(from, sizeof(from), "%s", program);
	else
		harness_program(from, program);
	well(cli_run("/bin/mkdir", "-p", harness_file(in, folder), NULL));
	snprintf(at, HARNESS_PATH, "%.300s/%.100s", in, name);
	well(cli_run("/bin/cp", from, at, NULL));
	return at;
}

static json_int_t pid_of(struct harness_process *p)
{
	json_t *answer = json_well(p);
	const json_int_t pid = json_int(answer, "pid");

	json_decref(answer);
	return pid;
}

static void refused(const char *name, const char *what, const char *other)
{
	struct harness_process *p = cli_run("fibertrace", "list", name, NULL);

	cli_expect(p, 2);
	cli_contains(p->err.bytes, name);
	cli_contains(p->err.bytes, what);
	cli_contains(p->err.bytes, other);
	harness_free(p);
}

static void test_a_process_is_found_by_its_name_with_and_without_a_socket(void **state)
{
	const char *const with = name_of("with-a-socket"), *const without = name_of("without-one");
	struct crowd a = crowd_start(NULL, copy("crowd", "1", with), "22", NULL);
	struct crowd b = crowd_start(&off, copy("crowd", "1", without), "22", NULL);

	(void)state;
	assert_int_equal(pid_of(cli_run("fibertrace", "list", with, "--json", NULL)),
			 a.process->pid);
	assert_int_equal(pid_of(cli_run("fibertrace", "list", without, "--json", NULL)),
			 b.process->pid);
	assert_int_equal(pid_of(cli_run("fiberctl", "list", with, "--json", NULL)), a.process->pid);
	/* The tool does not wait for a process that does not respond. */
	assert_int_equal(kill(a.process->pid, SIGSTOP), 0);
	assert_int_equal(pid_of(cli_run("fibertrace", with, "--json", NULL)), a.process->pid);
	assert_int_equal(kill(a.process->pid, SIGCONT), 0);
	crowd_end(&a);
	crowd_end(&b);
}

static void test_every_command_takes_a_name(void **state)
{
	static const char *const commands[][3] = {
		{"list"},  {"bt", "--all"}, {"stacks"},	    {"tree"},
		{"waits"}, {"deadlock"},    {"show", "ID"}, {"bt", "ID"},
	};
	const char *const name = name_of("commands");
	struct crowd crowd = crowd_start(&off, copy("crowd", "2", name), "22", NULL);
	const char *const id = cli_number(crowd.members[0].id);
	char out[HARNESS_PATH];

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *word = commands[i][1];

		word = word && !strcmp(word, "ID") ? id : word;
		assert_int_equal(
			pid_of(cli_run("fibertrace", commands[i][0], name, "--json", word, NULL)),
			crowd.process->pid);
	}
	assert_int_equal(pid_of(cli_run("fibertrace", name, "--json", NULL)), crowd.process->pid);
	assert_int_equal(pid_of(cli_run("fibertrace", "to-core", name, "--json", "-o",
					harness_file(out, "named.core"), NULL)),
			 crowd.process->pid);
	crowd_end(&crowd);
}

static void test_a_recording_is_of_a_name_too(void **state)
{
	const char *const name = name_of("recorded"), *const silent = name_of("silent");
	struct crowd crowd = crowd_start(NULL, copy("crowd", "3", name), "22", NULL);
	struct crowd other = crowd_start(&off, copy("crowd", "3", silent), "22", NULL);
	char file[HARNESS_PATH], said[64];
	struct harness_process *p;

	(void)state;
	harness_file(file, "named.rec");
	p = cli_run("fibertrace", "record", name, "--for", "50ms", "-o", file, NULL);
	cli_expect(p, 0);
	snprintf(said, sizeof(said), "(process %d)", (int)crowd.process->pid);
	cli_contains(p->out.bytes, said);
	harness_free(p);
	/* record finds only a process with a socket by name; by id it tells why there is none. */
	cli_expect_error(cli_run("fibertrace", "record", silent, "-o", file, NULL), 2, "fibertrace",
			 "no process of that name has a control socket in ");
	cli_expect_error(cli_run("fibertrace", "record", cli_number((uint64_t)other.process->pid),
				 "-o", file, NULL),
			 2, "fibertrace", "FIBER_CONTROL=off");
	crowd_end(&crowd);
	crowd_end(&other);
}

static void test_a_name_of_several_lists_their_ids(void **state)
{
	const char *const name = name_of("twice"), *const path = copy("crowd", "4", name);
	struct crowd a = crowd_start(NULL, path, "22", NULL);
	struct crowd b = crowd_start(&off, path, "22", NULL);

	(void)state;
	refused(name, cli_number((uint64_t)a.process->pid), cli_number((uint64_t)b.process->pid));
	refused(name, "2 processes have that name", "give a process id");
	/* Only process a has a socket. */
	assert_int_equal(pid_of(cli_run("fiberctl", "list", name, "--json", NULL)), a.process->pid);
	crowd_end(&a);
	crowd_end(&b);
}

/* A program that sets another name is also found by the system's name. */
static void test_the_name_of_its_own_goes_before_the_systems(void **state)
{
	const char *const name = short_name('a');
	const char *const path = copy("runtimes", "5", name);
	struct harness_process *renamed = cli_start(&off, "ready", path, NULL);
	struct harness_process *again;
	struct crowd own;

	(void)state;
	assert_int_equal(pid_of(cli_run("fibertrace", "list", name, "--json", NULL)), renamed->pid);
	own = crowd_start(&off, copy("crowd", "6", name), "22", NULL);
	assert_int_equal(pid_of(cli_run("fibertrace", "list", name, "--json", NULL)),
			 own.process->pid);
	crowd_end(&own);
	again = cli_start(&off, "ready", path, NULL);
	refused(name, cli_number((uint64_t)renamed->pid), cli_number((uint64_t)again->pid));
	harness_free(again);
	harness_free(renamed);
}

/* Whether the process has called execve(2), so that it has the name of its file. */
static bool is_sleep(void *process)
{
	const struct harness_process *p = process;
	char path[64], name[32] = "", own[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)p->pid);
	file = fopen(path, "r");
	if (!file || !fgets(name, sizeof(name), file))
		name[0] = 0;
	if (file)
		fclose(file);
	snprintf(own, sizeof(own), "n%dp\n", (int)getpid());
	return strcmp(name, own) == 0;
}

static void test_a_name_that_nobody_has_is_refused_with_a_remedy(void **state)
{
	const char *const plain = short_name('p');
	struct harness_process *p =
		harness_start((const char *[]){copy("/bin/sleep", "7", plain), "100", NULL}, NULL);
	struct harness_process *shown;
	char pid[16];

	(void)state;
	assert_true(harness_until(is_sleep, p, CLI_SECONDS));
	refused(name_of("of-nobody"), "no process with fibers has that name", "process id");
	snprintf(pid, sizeof(pid), "%d", (int)p->pid);
	/* Its threads can be shown; a tree of fibers cannot. */
	shown = cli_run("fibertrace", "list", plain, NULL);
	cli_expect(shown, 0);
	cli_contains(shown->out.bytes, "shown 1 of 1 thread of a program without fibers");
	harness_free(shown);
	shown = cli_run("fibertrace", "tree", plain, NULL);
	cli_expect(shown, 2);
	cli_contains(shown->err.bytes, "no process of that name has fibers");
	cli_contains(shown->err.bytes, pid);
	harness_free(shown);
	cli_expect_error(cli_run("fibertrace", "\033[31m", NULL), 2, "fibertrace", "\\x1b[31m: no");
	harness_free(p);
}

static void test_who_may_not_be_read_is_named_with_the_right_that_is_missing(void **state)
{
	const struct harness_how nobody = {.user = 65534};
	const char *const name = short_name('r');
	struct crowd crowd = crowd_start(NULL, copy("crowd", "8", name), "22", NULL);
	struct harness_process *p;

	(void)state;
	if (getuid())
		cli_skip("needs root to become another user");
	p = cli_run_how(&nobody, "fibertrace", "--help", NULL);
	if (harness_exit_code(p)) {
		harness_free(p);
		cli_skip("the build folder is not open to other users");
	}
	harness_free(p);
	cli_expect_error(cli_run_how(&nobody, "fibertrace", name, NULL), 2, "fibertrace",
			 cli_number((uint64_t)crowd.process->pid));
	cli_expect_error(cli_run_how(&nobody, "fibertrace", name, NULL), 2, "fibertrace", "root");
	crowd_end(&crowd);
}

static json_int_t source_is(struct harness_process *p, const char *source)
{
	json_t *answer;
	json_int_t pid;

	answer = json_well(p);
	assert_string_equal(json_text(answer, "source"), source);
	pid = json_int(answer, "pid");
	json_decref(answer);
	return pid;
}

/* As with fiberctl: the program file itself may be here, under the same name. */
static void test_a_process_goes_before_a_file_of_its_name(void **state)
{
	const char *const name = name_of("file");
	struct crowd a = crowd_start(NULL, copy("crowd", "9", name), "22", NULL);
	struct crowd b = crowd_start(NULL, "crowd", "22", NULL);
	const char *const pid = cli_number((uint64_t)b.process->pid);
	char folder[HARNESS_PATH], file[HARNESS_PATH], path[HARNESS_PATH], number[16];
	const struct harness_how here = {.folder = harness_file(folder, "10")};

	(void)state;
	snprintf(number, sizeof(number), "%d", (int)a.process->pid);
	well(cli_run("/bin/mkdir", "-p", folder, NULL));
	cli_expect(
		cli_run("fiberctl", "snapshot", pid, "-o", harness_file(file, "file.snap"), NULL),
		0);
	copy(file, "10", name);
	copy(file, "10", number);
	snprintf(path, sizeof(path), "./%.100s", name);
	for (int i = 0; i < 2; i++) {
		const char *const tool = i ? "fibertrace" : "fiberctl";
		const char *const live = i ? "live" : "control";

		assert_int_equal(
			source_is(cli_run_how(&here, tool, "list", name, "--json", NULL), live),
			a.process->pid);
		assert_int_equal(
			source_is(cli_run_how(&here, tool, "list", number, "--json", NULL), live),
			a.process->pid);
		source_is(cli_run_how(&here, tool, "list", path, "--json", NULL), "snapshot");
	}
	source_is(cli_run_how(&here, "fibertrace", "--snapshot", name, "--json", NULL), "snapshot");
	crowd_end(&a);
	for (int i = 0; i < 2; i++) {
		const char *const tool = i ? "fibertrace" : "fiberctl";

		source_is(cli_run_how(&here, tool, "list", name, "--json", NULL), "snapshot");
		source_is(cli_run_how(&here, tool, "list", number, "--json", NULL), "snapshot");
	}
	crowd_end(&b);
}

/* The program file is here, but no process runs it. */
static void test_a_program_that_does_not_run_is_no_core(void **state)
{
	const char *const name = name_of("gone");
	char folder[HARNESS_PATH];
	const struct harness_how here = {.folder = harness_file(folder, "11")};

	(void)state;
	copy("crowd", "11", name);
	cli_expect_error(cli_run_how(&here, "fibertrace", name, NULL), 2, "fibertrace",
			 "no process with fibers has that name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process_is_found_by_its_name_with_and_without_a_socket),
		cmocka_unit_test(test_every_command_takes_a_name),
		cmocka_unit_test(test_a_recording_is_of_a_name_too),
		cmocka_unit_test(test_a_name_of_several_lists_their_ids),
		cmocka_unit_test(test_the_name_of_its_own_goes_before_the_systems),
		cmocka_unit_test(test_a_name_that_nobody_has_is_refused_with_a_remedy),
		cmocka_unit_test(test_who_may_not_be_read_is_named_with_the_right_that_is_missing),
		cmocka_unit_test(test_a_process_goes_before_a_file_of_its_name),
		cmocka_unit_test(test_a_program_that_does_not_run_is_no_core),
	};

	harness_watchdog(200);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
