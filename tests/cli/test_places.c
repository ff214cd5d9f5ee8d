/* SPDX-License-Identifier: MIT */
/*
 * test_places.c - the folder of the control sockets when another user made it first
 *
 * A program never fails because of it: it runs without a socket and prints one line with the reason
 * and the path. The tool skips a folder that it cannot trust and prints the remedy.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

static char runtime_dir[HARNESS_PATH]; /* XDG_RUNTIME_DIR of this test */
static char folder[HARNESS_PATH + 16]; /* the folder of the sockets in it */
static char setting[HARNESS_PATH + 160];
static const char *env[] = {setting, NULL};
static const struct harness_how how = {.env = env};

static int make(void **state)
{
	static unsigned count;
	char name[16];

	(void)state;
	snprintf(name, sizeof(name), "run%u", count++);
	harness_file(runtime_dir, name);
	snprintf(folder, sizeof(folder), "%s/fiber", runtime_dir);
	snprintf(setting, sizeof(setting), "XDG_RUNTIME_DIR=%s", runtime_dir);
	return mkdir(runtime_dir, 0700);
}

static struct harness_process *start(void)
{
	return cli_start(&how, "ready ", "spin", "--carriers", "1", NULL);
}

/* The program runs and has printed these words once; the tool cannot ask it and prints a remedy. */
static void goes_on_without(const char *said)
{
	struct harness_process *p = start(), *asked;
	static const char consequence[] = "going on without a control socket";
	const char *once;

	asked = cli_run_how(&how, "fiberctl", "list", cli_number((uint64_t)p->pid), NULL);
	cli_expect(asked, 2);
	cli_contains(asked->err.bytes, "fibertrace");
	harness_free(asked);
	harness_end(p);
	cli_contains(p->err.bytes, "control socket: ");
	cli_contains(p->err.bytes, said);
	/* On a slow machine the program may print lines about other things. */
	once = strstr(p->err.bytes, consequence);
	assert_non_null(once);
	assert_null(strstr(once + 1, consequence));
	harness_free(p);
}

static void test_folder_that_is_a_link_is_not_used_by_either(void **state)
{
	char elsewhere[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	harness_file(elsewhere, "elsewhere");
	assert_int_equal(mkdir(elsewhere, 0700), 0);
	assert_int_equal(symlink(elsewhere, folder), 0);
	goes_on_without("is not a directory but a link");
	p = cli_run_how(&how, "fiberctl", NULL);
	cli_contains(p->err.bytes, "passed over");
	cli_contains(p->err.bytes, folder);
	harness_free(p);
	assert_int_equal(rmdir(elsewhere), 0); /* no file was created there */
}

static void test_folder_of_others_is_not_used_by_either(void **state)
{
	struct harness_process *p;

	(void)state;
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	goes_on_without("is open to other users: chmod 700 it");
	p = cli_run_how(&how, "fiberctl", NULL);
	cli_contains(p->err.bytes, "passed over");
	harness_free(p);
	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(chown(folder, 65534, 65534), 0);
	goes_on_without("belongs to another user");
	p = cli_run_how(&how, "fiberctl", NULL);
	cli_contains(p->err.bytes, "passed over");
	harness_free(p);
}

static void test_file_in_the_place_of_the_folder_is_left_alone(void **state)
{
	FILE *file = fopen(folder, "we");

	(void)state;
	assert_non_null(file);
	fclose(file);
	goes_on_without("is not a directory but a link or a file");
	assert_int_equal(access(folder, F_OK), 0);
}

static void test_folder_that_was_there_and_is_private_is_used(void **state)
{
	struct harness_process *p, *asked;

	(void)state;
	assert_int_equal(mkdir(folder, 0700), 0);
	p = start();
	asked = cli_run_how(&how, "fiberctl", "list", cli_number((uint64_t)p->pid), NULL);
	cli_ended(asked, 0);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
}

static void test_path_too_long_is_said_with_the_remedy(void **state)
{
	char deep[120];

	(void)state;
	memset(deep, 'd', sizeof(deep));
	deep[sizeof(deep) - 1] = 0;
	snprintf(setting, sizeof(setting), "XDG_RUNTIME_DIR=%s/%s", runtime_dir, deep);
	assert_int_equal(mkdir(strchr(setting, '=') + 1, 0700), 0);
	goes_on_without("set FIBER_CONTROL_PATH to a shorter one");
}

static void test_socket_of_a_killed_program_is_removed_by_the_next(void **state)
{
	struct harness_process *first, *second, *asked;
	char path[HARNESS_PATH + 64];

	(void)state;
	first = start();
	snprintf(path, sizeof(path), "%s/%d.sock", folder, first->pid);
	assert_int_equal(access(path, F_OK), 0);
	kill(first->pid, SIGKILL);
	assert_true(harness_wait_end(first, CLI_SECONDS));
	assert_int_equal(access(path, F_OK), 0);
	second = start();
	assert_int_equal(access(path, F_OK), -1);
	asked = cli_run_how(&how, "fiberctl", "list", cli_number((uint64_t)second->pid), NULL);
	cli_ended(asked, 0);
	harness_free(second);
	harness_free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_folder_that_is_a_link_is_not_used_by_either, make),
		cmocka_unit_test_setup(test_folder_of_others_is_not_used_by_either, make),
		cmocka_unit_test_setup(test_file_in_the_place_of_the_folder_is_left_alone, make),
		cmocka_unit_test_setup(test_folder_that_was_there_and_is_private_is_used, make),
		cmocka_unit_test_setup(test_path_too_long_is_said_with_the_remedy, make),
		cmocka_unit_test_setup(test_socket_of_a_killed_program_is_removed_by_the_next,
				       make),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
