/* SPDX-License-Identifier: MIT */
/* test_fiberctl_namespaces.c - programs of a container that shares /tmp, from both sides */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/own_sockets.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/watchdog.h"

static struct harness_process *contain(const char *program, const char *a, const char *b)
{
	static char path[4][HARNESS_PATH];
	static unsigned turn;

	turn = (turn + 1) % 4;
	return harness_start((const char *[]){"unshare", "--pid", "--fork", "--kill-child",
					      "--mount-proc", harness_program(path[turn], program),
					      a, b, NULL},
			     &own_how);
}

static bool unshares(void)
{
	struct harness_process *p = harness_run(
		(const char *[]){"unshare", "--pid", "--fork", "--mount-proc", "true", NULL}, NULL,
		CLI_SECONDS);
	const bool does = harness_exit_code(p) == 0;

	harness_free(p);
	return does;
}

/* The outer pid of the container's first process: the only child of unshare(1). */
static pid_t first_of(const struct harness_process *container)
{
	char path[64], text[64] = "", *end;
	struct dirent *entry;
	pid_t found = 0;
	DIR *proc = opendir("/proc");
	FILE *file;

	while (!found && (entry = readdir(proc))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, &end, 10);
		int parent = 0;

		if (*end)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%*d (%63[^)]) %*c %d", text, &parent) == 2 &&
		    parent == container->pid)
			found = pid;
		fclose(file);
	}
	closedir(proc);
	assert_true(found > 0);
	return found;
}

/* unshare(1) waits for its child and ignores signals. */
static void end(struct harness_process *container)
{
	kill(first_of(container), SIGKILL);
	assert_true(harness_wait_end(container, CLI_SECONDS));
	harness_free(container);
}

static void test_program_of_a_container_has_the_id_that_it_has_here(void **state)
{
	struct harness_process *container, *p;
	struct crowd other;
	json_t *answer;
	char said[96];
	pid_t pid;

	(void)state;
	own_need();
	if (!unshares())
		cli_skip("unshare is missing, or a pid namespace is forbidden here");
	container = contain("crowd", "5", NULL);
	assert_non_null(harness_wait_line(container, "ready ", CLI_SECONDS));
	pid = first_of(container);
	assert_int_equal(access("/tmp/fiber-0/1.sock", F_OK), 0);
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 0);
	assert_int_equal(own_lines_of(p, pid), 1);
	assert_int_equal(own_lines_of(p, 1), 0);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
	p = own_tool("list", cli_number((uint64_t)pid), "--json");
	answer = json_well(p);
	assert_int_equal(json_int(answer, "pid"), pid);
	assert_int_equal(json_int(answer, "total"), 5);
	json_decref(answer);
	p = own_tool("policy", cli_number((uint64_t)pid), "--json");
	answer = json_answer(p);
	assert_int_equal(json_int(answer, "pid"), pid);
	json_decref(answer);
	harness_free(p);
	/*
	 * Outside, process 1 is another process. A program that starts outside does not remove the
	 * socket.
	 */
	snprintf(said, sizeof(said),
		 "process 1: has no control socket: process %d (uid 0) listens at", pid);
	own_expect(own_tool("list", "1", NULL), 2, "", said);
	other = crowd_start(&own_how, "crowd", "3", NULL);
	assert_int_equal(access("/tmp/fiber-0/1.sock", F_OK), 0);
	crowd_end(&other);
	end(container);
}

static void test_program_outside_of_the_container_is_shown_as_that(void **state)
{
	struct harness_process *p;
	struct crowd crowd;
	char said[96], label[96];

	(void)state;
	own_need();
	if (!unshares())
		cli_skip("unshare is missing, or a pid namespace is forbidden here");
	crowd = crowd_start(&own_how, "crowd", "5", NULL);
	p = contain("fiberctl", NULL, NULL);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	snprintf(said, sizeof(said), "crowd (process %d of another pid namespace (uid 0))\n",
		 crowd.process->pid);
	own_expect(p, 0, said, "");
	p = contain("fiberctl", "--json", NULL);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	own_expect(p, 0, "\"pid\":0", "");
	p = contain("fiberctl", "metrics", NULL);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	snprintf(label, sizeof(label), "libfiber_up{pid=\"%s\"} 1\n",
		 own_path("/tmp/fiber-0", crowd.process->pid));
	prom_check(p->out.bytes);
	own_expect(p, 0, label, "");
	p = contain("fiberctl", "metrics", own_path("/tmp/fiber-0", crowd.process->pid));
	assert_true(harness_wait_end(p, CLI_SECONDS));
	prom_check(p->out.bytes);
	own_expect(p, 0, label, "");
	/* The program is alive, although no process here has its id: the socket is kept. */
	assert_int_equal(access(own_path("/tmp/fiber-0", crowd.process->pid), F_OK), 0);
	crowd_end(&crowd);
}

static void test_socket_that_a_container_left_is_removed(void **state)
{
	struct harness_process *container;
	struct crowd other;

	(void)state;
	own_need();
	if (!unshares())
		cli_skip("unshare is missing, or a pid namespace is forbidden here");
	for (int by_program = 0; by_program < 2; by_program++) {
		container = contain("crowd", "5", NULL);
		assert_non_null(harness_wait_line(container, "ready ", CLI_SECONDS));
		end(container);
		assert_int_equal(access("/tmp/fiber-0/1.sock", F_OK), 0);
		if (by_program) {
			other = crowd_start(&own_how, "crowd", "3", NULL);
			assert_int_equal(access("/tmp/fiber-0/1.sock", F_OK), -1);
			crowd_end(&other);
			continue;
		}
		/* Process 1 outside never was the program that left the socket. */
		own_expect(own_tool("list", "1", NULL), 2, "",
			   "an earlier process, or one of a container, of that id left "
			   "/tmp/fiber-0/1.sock behind, which is removed now");
		assert_int_equal(access("/tmp/fiber-0/1.sock", F_OK), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_of_a_container_has_the_id_that_it_has_here),
		cmocka_unit_test(test_program_outside_of_the_container_is_shown_as_that),
		cmocka_unit_test(test_socket_that_a_container_left_is_removed),
	};

	own_tmp();
	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
