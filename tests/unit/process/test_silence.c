/* SPDX-License-Identifier: MIT */
/* test_silence.c - a living process is not reported as ended */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/process/permission.h"
#include "inspect/process/silence.h"
#include "tests/harness/inspect/head.h"

static const char *silence(pid_t pid, const char *path, int rc)
{
	static char text[INS_ACCESS_EXPLAIN_SIZE];

	return ins_process_silence(path, pid, rc, text, sizeof text);
}

/* This process is alive, its child is not. */
static void test_a_process_that_lives_is_not_said_to_have_ended(void **state)
{
	static const int rcs[] = {-ECONNREFUSED, -ECONNRESET, -EPIPE};
	char path[64];
	pid_t child;
	size_t i;

	(void)state;
	assert_true(ins_process_is_alive(getpid()));
	snprintf(path, sizeof path, "/nowhere/%d.sock", getpid());
	for (i = 0; i < sizeof rcs / sizeof rcs[0]; i++) {
		assert_non_null(strstr(silence(getpid(), "/nowhere/else", rcs[i]), " lives, but "));
		assert_non_null(strstr(silence(0, path, rcs[i]), "use fibertrace"));
		assert_null(strstr(silence(0, path, rcs[i]), "ended"));
		assert_null(strstr(silence(0, path, rcs[i]), "dead"));
	}
	child = fork();
	if (child == 0)
		_exit(0);
	while (ins_process_is_alive(child))
		usleep(1000);
	/* A zombie. */
	assert_non_null(strstr(silence(child, path, -ECONNREFUSED), "no process listens"));
	assert_non_null(strstr(silence(child, path, -ECONNRESET), "process ended or"));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(ins_process_is_alive(child));
	assert_false(ins_process_is_alive(0));
	assert_non_null(
		strstr(silence(0, "/nowhere/12x.sock", -ECONNREFUSED), "no process listens"));
}

static void *stay(void *arg)
{
	pause();
	return arg;
}

/* A process lives as long as any of its threads. */
static void test_a_process_outlives_its_first_thread(void **state)
{
	char first[32] = "";
	pid_t child;

	(void)state;
	child = fork();
	if (child == 0) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, stay, NULL) == 0)
			pthread_exit(NULL);
		_exit(1);
	}
	while (first[0] != 'Z') {
		usleep(1000);
		assert_int_equal(ins_permission_status(child, "State", first, sizeof first), 0);
	}
	assert_true(ins_process_is_alive(child));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* The child's end of the socket closes before the child is a zombie. */
static void test_a_process_that_has_closed_its_sockets_has_ended(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		int ends[2];
		pid_t child;
		char byte;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		child = fork();
		if (child == 0) {
			close(ends[0]);
			pause();
		}
		close(ends[1]);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(read(ends[0], &byte, 1), 0);
		assert_false(ins_process_is_alive(child));
		assert_int_equal(waitpid(child, NULL, 0), child);
		close(ends[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process_that_lives_is_not_said_to_have_ended),
		cmocka_unit_test(test_a_process_outlives_its_first_thread),
		cmocka_unit_test(test_a_process_that_has_closed_its_sockets_has_ended),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
