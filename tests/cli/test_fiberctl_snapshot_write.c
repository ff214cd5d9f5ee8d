/* SPDX-License-Identifier: MIT */
/* test_fiberctl_snapshot_write.c - the file is complete or not written; an old one is kept */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static char file[HARNESS_PATH];

static int start(void **state)
{
	(void)state;
	harness_file(file, "a.snap");
	return one_crowd("crowd", "200", NULL);
}

static void take(const char *path)
{
	struct harness_process *p = cli_run("fiberctl", "snapshot", pid, "-o", path, NULL);

	cli_ended(p, 0);
}

static void test_a_file_is_only_replaced_by_force(void **state)
{
	struct stat before, after;
	char folder[HARNESS_PATH + 16];
	struct harness_process *p;
	json_t *answer;

	(void)state;
	take(file);
	assert_int_equal(stat(file, &before), 0);
	assert_int_equal(before.st_mode & 0777, 0600);
	cli_expect_error(cli_run("fiberctl", "snapshot", pid, "-o", file, NULL), 2, "fiberctl",
			 "--force");
	assert_int_equal(stat(file, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	p = cli_run("fiberctl", "snapshot", pid, "-o", file, "--force", "--json", NULL);
	answer = json_well(p);
	json_promise_answer(answer, "control");
	json_promise(json_object_get(answer, "snapshot"), "snapshot",
		     "file:s bytes:i takenNs:i host:s");
	assert_int_equal(stat(file, &after), 0);
	assert_int_not_equal(after.st_ino, before.st_ino);
	assert_int_equal(json_int(json_object_get(answer, "snapshot"), "bytes"), after.st_size);
	json_decref(answer);
	cli_expect_error(cli_run("fiberctl", "snapshot", pid, NULL), 64, "fiberctl", "-o FILE");
	snprintf(folder, sizeof(folder), "%s/none/x.snap", harness_folder());
	cli_expect_error(cli_run("fiberctl", "snapshot", pid, "-o", folder, NULL), 2, "fiberctl",
			 folder);
	cli_expect_error(
		cli_run("fiberctl", "snapshot", pid, "-o", harness_folder(), "--force", NULL), 2,
		"fiberctl", "is no file");
}

/* The number of files of a folder whose names begin with prefix. */
static unsigned files(const char *folder, const char *prefix)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(dir);
	return n;
}

static bool has_begun(void *arg)
{
	(void)arg;
	return files(harness_folder(), "stopped.snap.") > 0;
}

static void test_one_that_is_interrupted_leaves_nothing(void **state)
{
	static const int numbers[] = {SIGINT, SIGTERM};
	char path[HARNESS_PATH], program[HARNESS_PATH];
	const char *const argv[] = {harness_program(program, "fiberctl"), "snapshot", pid, "-o",
				    harness_file(path, "stopped.snap"),	  NULL};

	(void)state;
	assert_int_equal(kill(crowd.process->pid, SIGSTOP), 0);
	for (size_t i = 0; i < 2; i++) {
		struct harness_process *p = harness_start(argv, NULL);

		assert_true(harness_until(has_begun, NULL, CLI_SECONDS));
		assert_int_equal(kill(p->pid, numbers[i]), 0);
		assert_true(harness_wait_end(p, CLI_SECONDS));
		assert_int_equal(harness_exit_code(p), -1);
		assert_int_equal(files(harness_folder(), "stopped.snap"), 0);
		harness_free(p);
	}
	/* A process that never answers is abandoned. */
	cli_expect_error(cli_run("fiberctl", "snapshot", pid, "-o", path, NULL), 2, "fiberctl",
			 "the process is stopped");
	assert_int_equal(files(harness_folder(), "stopped.snap"), 0);
	assert_int_equal(kill(crowd.process->pid, SIGCONT), 0);
}

/* A disk with an older snapshot and room for only a part of the new one. Skipped if mounting is not
 * permitted. */
static void test_a_full_disk_is_an_error_that_loses_nothing(void **state)
{
	char disk[HARNESS_PATH], path[HARNESS_PATH + 16];
	struct harness_process *p;

	(void)state;
	harness_file(disk, "disk");
	snprintf(path, sizeof(path), "%s/b.snap", disk);
	if (mkdir(disk, 0700) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", disk, "tmpfs", 0, "size=640k"))
		cli_skip("no file system can be mounted here");
	take(path);
	cli_expect_error(cli_run("fiberctl", "snapshot", pid, "-o", path, "--force", NULL), 2,
			 "fiberctl", "b.snap: cannot be written: No space left on device");
	assert_int_equal(files(disk, "b.snap"), 1);
	p = cli_run("fiberctl", "list", path, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "200 of 200 fibers");
	harness_free(p);
	umount(disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_only_replaced_by_force),
		cmocka_unit_test(test_one_that_is_interrupted_leaves_nothing),
		cmocka_unit_test(test_a_full_disk_is_an_error_that_loses_nothing),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
