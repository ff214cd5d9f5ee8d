/* SPDX-License-Identifier: MIT */
/* test_condition.c - a process that is stopped or near its limits, and one whose control group says so */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/process/condition.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/paths.h"

static void test_condition_of_this_process_runs_and_has_descriptors(void **state)
{
	struct ins_condition c, more;
	struct rlimit limit;
	int fd;

	(void)state;
	ins_condition_read(getpid(), "/nonexistent", &c);
	assert_false(c.stopped || c.traced || c.frozen || c.has_quota);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(c.descriptors_most, limit.rlim_cur);
	assert_int_equal(c.memory_most, 0);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ins_condition_read(getpid(), "/nonexistent", &more);
	assert_int_equal(more.descriptors, c.descriptors + 1);
	close(fd);
}

static void test_condition_of_a_stopped_process_is_stopped(void **state)
{
	const pid_t child = fork();
	struct ins_condition c;
	int status;

	(void)state;
	if (!child) {
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	ins_condition_read(child, "/nonexistent", &c);
	assert_true(c.stopped && !c.traced);
	assert_int_equal(kill(child, SIGKILL), 0);
	waitpid(child, &status, 0);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[HARNESS_PATH + 64];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The path of this process' group below where cgroup2 is mounted. */
static void own_group(char *group, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "r");
	char line[1024];

	group[0] = 0;
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "0::", 3))
			snprintf(group, size, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	if (file)
		fclose(file);
}

/* Make a folder and those above it. */
static void make_folders(const char *path)
{
	char part[HARNESS_PATH + 1024];
	size_t i;

	snprintf(part, sizeof part, "%s", path);
	for (i = 1; part[i]; i++)
		if (part[i] == '/') {
			part[i] = 0;
			mkdir(part, 0700);
			part[i] = '/';
		}
	mkdir(part, 0700);
}

static void test_condition_is_what_the_control_group_says(void **state)
{
	char root[HARNESS_PATH], group[1024], folder[HARNESS_PATH + 1024];
	struct ins_condition c;

	(void)state;
	own_group(group, sizeof group);
	snprintf(folder, sizeof folder, "%s%s", harness_file(root, "cgroup"), group);
	make_folders(folder);
	write_file(folder, "cgroup.events", "populated 1\nfrozen 1\n");
	write_file(folder, "cpu.max", "50000 100000\n");
	write_file(folder, "cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 7\n");
	write_file(folder, "memory.max", "1048576\n");
	write_file(folder, "memory.current", "1000000\n");
	write_file(folder, "memory.stat",
		   "anon 500000\nfile 150000\ninactive_file 100000\nactive_file 50000\n");
	ins_condition_read(getpid(), root, &c);
	assert_true(c.frozen && c.has_quota);
	assert_int_equal(c.throttled, 7);
	assert_int_equal(c.memory, 850000);
	assert_int_equal(c.memory_most, 1048576);
	write_file(folder, "cgroup.events", "populated 1\nfrozen 0\n");
	write_file(folder, "cpu.max", "max 100000\n");
	write_file(folder, "memory.max", "max\n");
	ins_condition_read(getpid(), root, &c);
	assert_false(c.frozen || c.has_quota);
	assert_int_equal(c.memory_most, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_condition_of_this_process_runs_and_has_descriptors),
		cmocka_unit_test(test_condition_of_a_stopped_process_is_stopped),
		cmocka_unit_test(test_condition_is_what_the_control_group_says),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
