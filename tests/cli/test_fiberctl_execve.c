/* SPDX-License-Identifier: MIT */
/* test_fiberctl_execve.c - a process that has executed another program, and a reused process id */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/cli/own_sockets.h"
#include "tests/harness/watchdog.h"

static char now_runs[64];

static bool runs(void *pid)
{
	char path[64], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", *(pid_t *)pid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%63s", name) != 1)
		name[0] = 0;
	if (file)
		fclose(file);
	return strcmp(name, now_runs) == 0;
}

static struct harness_process *become(const char *name, const char *program, const char *argument)
{
	struct harness_process *p =
		cli_start(&own_how, "ready ", "become", program, argument, NULL);

	own_expect(own_tool("list", cli_number((uint64_t)p->pid), NULL), 0, "of 0 fibers", "");
	snprintf(now_runs, sizeof(now_runs), "%s", name);
	kill(p->pid, SIGUSR1);
	assert_true(harness_until(runs, &p->pid, CLI_SECONDS));
	return p;
}

static void test_process_that_executed_another_program_is_alive(void **state)
{
	struct harness_process *p, *found;
	char said[160];
	const char *path;

	(void)state;
	own_need();
	p = become("sleep", "/bin/sleep", "100");
	path = own_path("/tmp/fiber-0", p->pid);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(said, sizeof(said),
		 "process %d: runs another program now: sleep; the one before it left "
		 "%s behind, which is removed now\n",
		 p->pid, path);
	own_expect(own_tool("list", cli_number((uint64_t)p->pid), NULL), 2, "", said);
	assert_int_equal(access(path, F_OK), -1);
	harness_free(p);
	/*
	 * The list removes the socket, too. A path given by the user is not treated as a dead
	 * process.
	 */
	p = become("sleep", "/bin/sleep", "100");
	path = own_path("/tmp/fiber-0", p->pid);
	own_expect(own_tool("list", path, NULL), 2, "", "or runs another program now");
	found = own_tool(NULL, NULL, NULL);
	assert_int_equal(own_lines_of(found, p->pid), 0);
	assert_string_equal(found->err.bytes, "");
	assert_int_equal(access(path, F_OK), -1);
	harness_free(found);
	harness_free(p);
}

static bool has_nine_fibers(void *pid)
{
	struct harness_process *p = own_tool("list", cli_number((uint64_t) * (pid_t *)pid), NULL);
	const bool has = strstr(p->out.bytes, "of 9 fibers") != NULL;

	harness_free(p);
	return has;
}

static void test_process_that_executed_another_program_with_fibers_has_its_socket(void **state)
{
	struct harness_process *p, *found;
	char program[HARNESS_PATH];

	(void)state;
	own_need();
	p = become("crowd", harness_program(program, "crowd"), "9");
	assert_true(harness_until(has_nine_fibers, &p->pid, CLI_SECONDS));
	found = own_tool(NULL, NULL, NULL);
	cli_expect(found, 0);
	assert_int_equal(own_lines_of(found, p->pid), 1);
	harness_free(found);
	harness_free(p);
}

static void test_socket_of_an_earlier_process_with_the_id_is_removed(void **state)
{
	struct harness_process *p;
	/* The time stamps of a socket whose process started at boot. */
	const struct timespec mark[2] = {{0, UTIME_OMIT}, {time(NULL), 331}};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	(void)state;
	own_need();
	own_folder("/tmp/fiber-0", 0);
	p = cli_without_fibers();
	strcpy(at.sun_path, own_path("/tmp/fiber-0", p->pid));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, at.sun_path, mark, 0), 0);
	own_expect(own_tool("list", cli_number((uint64_t)p->pid), NULL), 2, "",
		   "an earlier process, or one of a container, of that id left ");
	assert_int_equal(access(at.sun_path, F_OK), -1);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_that_executed_another_program_is_alive),
		cmocka_unit_test(
			test_process_that_executed_another_program_with_fibers_has_its_socket),
		cmocka_unit_test(test_socket_of_an_earlier_process_with_the_id_is_removed),
	};

	own_tmp();
	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
