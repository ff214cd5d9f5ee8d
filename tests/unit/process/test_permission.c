/* SPDX-License-Identifier: MIT */
/* test_permission.c - the reason and the remedy if another process may not be read */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/permission.h"

#define NOBODY 65534

static void test_status_lines_are_read_by_key(void **state)
{
	char text[128];

	(void)state;
	assert_int_equal(ins_permission_status(getpid(), "Name", text, sizeof text), 0);
	assert_non_null(strstr(text, "test_permission"));
	assert_int_equal(ins_permission_status(getpid(), "Pid", text, sizeof text), 0);
	assert_int_equal(atoi(text), getpid());
	/* Only a complete key matches. */
	assert_int_equal(ins_permission_status(getpid(), "Pi", text, sizeof text), -ENODATA);
	assert_int_equal(ins_permission_status(getpid(), "Nonsense", text, sizeof text), -ENODATA);
	assert_true(ins_permission_status(0x3fffffff, "Name", text, sizeof text) < 0);
}

static pid_t target; /* 0: none */

static int end_target(void **state)
{
	(void)state;
	if (target > 0) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	target = 0;
	return 0;
}

static pid_t sleeper(void)
{
	pid_t pid = target = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

/* Store the text that a process of user NOBODY without capabilities gets about pid. */
static void told_nobody(pid_t pid, char *text, size_t size)
{
	int ends[2], status;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct ins_error error = {""};

		if (setgid(NOBODY) || setuid(NOBODY) ||
		    ins_permission_explain(pid, -EPERM, &error) != -EPERM)
			_exit(1);
		n = write(ends[1], error.text, strlen(error.text));
		_exit(n <= 0);
	}
	close(ends[1]);
	n = read(ends[0], text, size - 1);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(n > 0);
	text[n] = 0;
}

static void test_another_users_process_names_both_and_the_remedy(void **state)
{
	char text[1024], pid_text[32];
	pid_t pid;

	(void)state;
	if (getuid())
		skip();
	pid = sleeper();
	told_nobody(pid, text, sizeof text);
	snprintf(pid_text, sizeof pid_text, "process %d: ", (int)pid);
	assert_int_equal(strncmp(text, pid_text, strlen(pid_text)), 0);
	assert_non_null(strstr(text, "belongs to root (uid 0)"));
	assert_non_null(strstr(text, "you are uid 65534"));
	assert_non_null(strstr(text, "CAP_SYS_PTRACE"));
}

static void test_a_process_that_is_not_dumpable_is_told_apart(void **state)
{
	int ends[2];
	char text[1024], byte;
	pid_t pid;

	(void)state;
	if (getuid())
		skip();
	assert_int_equal(pipe(ends), 0);
	pid = target = fork();
	if (pid == 0) {
		/* The target has the looking process's user, but its /proc files are root's. */
		if (setgid(NOBODY) || setuid(NOBODY) || prctl(PR_SET_DUMPABLE, 0) ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL) || write(ends[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	told_nobody(pid, text, sizeof text);
	assert_non_null(strstr(text, "not dumpable"));
	assert_non_null(strstr(text, "CAP_SYS_PTRACE"));
	close(ends[0]);
	close(ends[1]);
}

static void test_with_every_right_it_is_a_sandbox(void **state)
{
	struct ins_error error = {""};
	char scope[16] = "0";
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");

	(void)state;
	if (f) {
		if (!fgets(scope, sizeof scope, f))
			scope[0] = '0';
		fclose(f);
	}
	if (getuid() || scope[0] >= '3')
		skip();
	assert_int_equal(ins_permission_explain(getpid(), -EPERM, &error), -EPERM);
	assert_non_null(strstr(error.text, "a sandbox (seccomp) or security module"));
}

static void test_a_process_that_is_gone_is_still_an_error(void **state)
{
	struct ins_error error = {""};

	(void)state;
	assert_int_equal(ins_permission_explain(0x3fffffff, -EACCES, &error), -EPERM);
	assert_non_null(strstr(error.text, "cannot be read"));
}

static void test_the_reason_alone_is_what_is_said_behind_the_process(void **state)
{
	struct ins_error error = {""};
	char reason[512], whole[600];

	(void)state;
	ins_permission_explain(getpid(), -EPERM, &error);
	ins_permission_reason(getpid(), -EPERM, reason, sizeof reason);
	snprintf(whole, sizeof whole, "process %d: %s", (int)getpid(), reason);
	assert_string_equal(error.text, whole);
}

static void test_a_process_is_seen_or_not_there(void **state)
{
	struct ins_error error = {""};
	pid_t pid = sleeper();

	(void)state;
	assert_int_equal(ins_permission_seen(pid, &error), 0);
	assert_int_equal(ins_permission_owner(pid, &error), 0);
	assert_string_equal(error.text, "");
	end_target(NULL);
	assert_int_equal(ins_permission_seen(pid, &error), -ESRCH);
	assert_non_null(strstr(error.text, "no such process"));
	assert_int_equal(ins_permission_owner(pid, &error), -ESRCH);
	assert_int_equal(ins_permission_seen(0, &error), -ESRCH);
	assert_int_equal(ins_permission_seen(-1, &error), -ESRCH);
}

static void test_the_socket_of_another_users_process_is_not_ours(void **state)
{
	struct ins_error error = {""};
	pid_t pid = sleeper();

	(void)state;
	if (getuid())
		skip();
	assert_int_equal(seteuid(NOBODY), 0);
	assert_int_equal(ins_permission_owner(pid, &error), -EACCES);
	assert_int_equal(seteuid(0), 0);
	assert_non_null(strstr(error.text, "permission denied: it belongs to root (uid 0) and you "
					   "are uid 65534"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_lines_are_read_by_key),
		cmocka_unit_test_teardown(test_another_users_process_names_both_and_the_remedy,
					  end_target),
		cmocka_unit_test_teardown(test_a_process_that_is_not_dumpable_is_told_apart,
					  end_target),
		cmocka_unit_test(test_with_every_right_it_is_a_sandbox),
		cmocka_unit_test(test_a_process_that_is_gone_is_still_an_error),
		cmocka_unit_test(test_the_reason_alone_is_what_is_said_behind_the_process),
		cmocka_unit_test_teardown(test_a_process_is_seen_or_not_there, end_target),
		cmocka_unit_test_teardown(test_the_socket_of_another_users_process_is_not_ours,
					  end_target),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
