/* SPDX-License-Identifier: MIT */
/* test_access.c - which file or folder of a path is inaccessible, and its owner */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/access.h"
#include "tests/harness/paths.h"

#define NOBODY 65534

static char folder[HARNESS_PATH], file[HARNESS_PATH];

static int make(void **state)
{
	int fd;

	(void)state;
	if (mkdir(harness_file(folder, "folder"), 0755) && errno != EEXIST)
		return -1;
	fd = open(harness_file(file, "folder/file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd < 0 || chmod(harness_folder(), 0755);
}

/* Return the explanation that `user` gets; 0: the user of this process. */
static const char *told(uid_t user, const char *path, enum ins_access use, int rc)
{
	static char text[INS_ACCESS_EXPLAIN_SIZE];
	int ends[2], status;
	ssize_t n;
	pid_t child;

	memset(text, 0, sizeof text);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		if (user && (setgid(user) || setuid(user)))
			_exit(1);
		ins_access_explain(path, use, rc, text, sizeof text);
		_exit(write(ends[1], text, strlen(text)) <= 0);
	}
	close(ends[1]);
	n = read(ends[0], text, sizeof text - 1);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0 && n > 0);
	return text;
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

static void expect(const char *text, const char *what, const char *whose, const char *mode)
{
	char expected[1024];

	snprintf(expected, sizeof expected,
		 "Permission denied: %s belongs to %s, mode %s, and you are uid 65534: run this as "
		 "that user (sudo test_access ...) or as root",
		 what, whose, mode);
	assert_string_equal(text, expected);
}

static void test_any_other_error_is_what_the_system_calls_it(void **state)
{
	(void)state;
	assert_string_equal(told(0, file, INS_ACCESS_READ, -ENOENT), "No such file or directory");
	assert_string_equal(told(0, file, INS_ACCESS_MAKE, -ENOSPC), "No space left on device");
	assert_string_equal(told(0, file, INS_ACCESS_READ, -EPERM), "Operation not permitted");
}

static void test_a_socket_says_what_became_of_its_process(void **state)
{
	(void)state;
	assert_non_null(strstr(told(0, file, INS_ACCESS_CONNECT, -ETIMEDOUT), "try fibertrace"));
	assert_non_null(strstr(told(0, file, INS_ACCESS_CONNECT, -ECONNREFUSED),
			       "no process listens there"));
	assert_non_null(strstr(told(0, file, INS_ACCESS_CONNECT, -ECONNRESET), "process ended or"));
	assert_non_null(strstr(told(0, file, INS_ACCESS_CONNECT, -EPIPE), "process ended or"));
	assert_non_null(strstr(told(0, file, INS_ACCESS_CONNECT, -ENOTSOCK), "no snapshot"));
	assert_string_equal(told(0, file, INS_ACCESS_CONNECT, -EPROTO), "Protocol error");
}

/* A security module may refuse what owner and mode allow. */
static void test_what_nothing_forbids_any_more_is_not_explained(void **state)
{
	(void)state;
	assert_string_equal(told(0, file, INS_ACCESS_READ, -EACCES), "Permission denied");
	assert_string_equal(told(0, file, INS_ACCESS_MAKE, -EACCES), "Permission denied");
}

static void test_a_file_is_named_by_its_user_and_mode(void **state)
{
	(void)state;
	need_root();
	expect(told(NOBODY, file, INS_ACCESS_READ, -EACCES), "it", "root (uid 0)", "0600");
	expect(told(NOBODY, file, INS_ACCESS_CONNECT, -EACCES), "it", "root (uid 0)", "0600");
	assert_int_equal(chmod(file, 0644), 0);
	assert_string_equal(told(NOBODY, file, INS_ACCESS_READ, -EACCES), "Permission denied");
	expect(told(NOBODY, file, INS_ACCESS_CONNECT, -EACCES), "it", "root (uid 0)", "0644");
	assert_int_equal(chmod(file, 0600), 0);
}

static void test_the_first_folder_that_is_shut_is_named(void **state)
{
	char deep[HARNESS_PATH + 32];

	(void)state;
	need_root();
	assert_int_equal(chmod(folder, 0700), 0);
	snprintf(deep, sizeof deep, "%s/that/is/not/there", folder);
	expect(told(NOBODY, file, INS_ACCESS_READ, -EACCES), folder, "root (uid 0)", "0700");
	expect(told(NOBODY, deep, INS_ACCESS_READ, -EACCES), folder, "root (uid 0)", "0700");
	expect(told(NOBODY, deep, INS_ACCESS_MAKE, -EACCES), folder, "root (uid 0)", "0700");
	assert_int_equal(chmod(folder, 0755), 0);
}

static void test_for_a_new_file_it_is_its_folder(void **state)
{
	char text[HARNESS_PATH];

	(void)state;
	need_root();
	expect(told(NOBODY, file, INS_ACCESS_MAKE, -EACCES), folder, "root (uid 0)", "0755");
	/* The file is in the current folder, and then in the root folder. */
	assert_non_null(getcwd(text, sizeof text));
	assert_int_equal(chdir(folder), 0);
	expect(told(NOBODY, "new", INS_ACCESS_MAKE, -EACCES), ".", "root (uid 0)", "0755");
	assert_int_equal(chdir(text), 0);
	assert_non_null(strstr(told(NOBODY, "/new", INS_ACCESS_MAKE, -EACCES),
			       ": / belongs to root (uid 0)"));
}

static void test_ones_own_file_is_a_matter_of_its_mode(void **state)
{
	(void)state;
	need_root();
	assert_int_equal(chown(file, NOBODY, NOBODY), 0);
	assert_int_equal(chmod(file, 0200), 0);
	assert_string_equal(told(NOBODY, file, INS_ACCESS_READ, -EACCES),
			    "Permission denied: it is yours, and its mode is 0200: chmod it");
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(chown(file, 0, 0), 0);
}

static void test_names_are_harmless_and_long_paths_are_well(void **state)
{
	char name[HARNESS_PATH], longer[PATH_MAX + 8], buf[INS_ACCESS_EXPLAIN_SIZE], small[20];

	(void)state;
	need_root();
	assert_int_equal(mkdir(harness_file(name, "a\033[2Jb"), 0700), 0);
	assert_non_null(strstr(told(NOBODY, name, INS_ACCESS_MAKE, -EACCES), "Permission denied"));
	strcat(name, "/c");
	assert_null(strchr(told(NOBODY, name, INS_ACCESS_READ, -EACCES), '\033'));
	assert_non_null(strstr(told(NOBODY, name, INS_ACCESS_READ, -EACCES), "a\\x1b[2Jb belongs"));
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = 0;
	assert_string_equal(ins_access_explain(longer, INS_ACCESS_READ, -EACCES, buf, sizeof buf),
			    "Permission denied");
	assert_string_equal(
		ins_access_explain(longer, INS_ACCESS_READ, -ENOENT, small, sizeof small),
		"No such file or dir");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_other_error_is_what_the_system_calls_it),
		cmocka_unit_test(test_a_socket_says_what_became_of_its_process),
		cmocka_unit_test(test_what_nothing_forbids_any_more_is_not_explained),
		cmocka_unit_test(test_a_file_is_named_by_its_user_and_mode),
		cmocka_unit_test(test_the_first_folder_that_is_shut_is_named),
		cmocka_unit_test(test_for_a_new_file_it_is_its_folder),
		cmocka_unit_test(test_ones_own_file_is_a_matter_of_its_mode),
		cmocka_unit_test(test_names_are_harmless_and_long_paths_are_well),
	};

	return HEAD_RUN(tests, make, NULL);
}
