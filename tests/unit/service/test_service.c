/* SPDX-License-Identifier: MIT */
/* test_service.c - the service thread, asked over its socket as the tools do */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/registry.h"
#include "os/os.h"
#include "records.h"
#include "service/service.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "wire/client.h"

#define LONG INT64_C(20000000000)

static char path[HARNESS_PATH];

static int setup(void **state)
{
	(void)state;
	unsetenv("FIBER_CONTROL");
	unsetenv("FIBER_CONTROL_PATH");
	harness_file(path, "service.sock");
	if (fib_registry_init() < 0)
		return -1;
	return fib_service_enter(path, "unit");
}

static int teardown(void **state)
{
	(void)state;
	fib_service_leave();
	return 0;
}

/*
 * Make a request without payload. Returns the type of the last frame; if it is ERROR, *ret_error is
 * set.
 */
static unsigned ask(const char *at, enum fib_wire_type type, int *ret_error)
{
	struct fib_wire_header h = {0};
	struct fib_wire_client c;
	const void *payload;
	int rc = fib_wire_connect(&c, at, LONG);

	if (rc == 0)
		rc = fib_wire_request(&c, type, NULL, 0);
	while (rc == 0 && h.type != FIB_WIRE_END && h.type != FIB_WIRE_ERROR)
		rc = fib_wire_receive(&c, &h, &payload);
	*ret_error = rc;
	if (rc == 0 && h.type == FIB_WIRE_ERROR)
		*ret_error = ((const struct fib_wire_error *)payload)->error;
	fib_wire_disconnect(&c);
	return rc == 0 ? h.type : 0;
}

static void assert_served(void)
{
	int error;

	assert_int_equal(ask(path, FIB_WIRE_HELLO, &error), FIB_WIRE_END);
}

static void test_service_answers_over_its_socket(void **state)
{
	int error;

	(void)state;
	assert_served();
	assert_int_equal(ask(path, FIB_WIRE_LIST, &error), FIB_WIRE_END);
}

static void test_service_is_one_however_many_enter(void **state)
{
	char other[HARNESS_PATH];

	(void)state;
	assert_int_equal(fib_service_enter(harness_file(other, "other.sock"), "second"), 0);
	assert_int_equal(access(other, F_OK), -1);
	fib_service_leave();
	assert_served();
}

static void test_service_removes_its_socket_with_the_last(void **state)
{
	(void)state;
	fib_service_leave();
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(fib_service_enter(path, "again"), 0);
	assert_served();
}

static void test_service_off_makes_no_socket(void **state)
{
	(void)state;
	fib_service_leave();
	setenv("FIBER_CONTROL", "off", 1);
	assert_int_equal(fib_service_enter(path, "unit"), 0);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_service_goes_on_after_garbage(void **state)
{
	struct fib_wire_header h;
	struct fib_wire_client c;
	const void *payload;

	(void)state;
	assert_int_equal(fib_wire_connect(&c, path, LONG), 0);
	assert_int_equal(write(c.fd, "garbage garbage garbage", 23), 23);
	assert_int_equal(fib_wire_receive(&c, &h, &payload), 0);
	assert_int_equal(h.type, FIB_WIRE_ERROR);
	assert_int_equal(fib_wire_receive(&c, &h, &payload), -ECONNRESET);
	fib_wire_disconnect(&c);
	assert_served();
}

static void test_service_serves_others_beside_the_silent_and_the_stuck(void **state)
{
	struct fiber *many[20000];
	struct fib_wire_client silent, stuck;
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(many); i++)
		many[i] = record_make("many", 0, 0);
	assert_int_equal(fib_wire_connect(&silent, path, LONG), 0);
	assert_int_equal(write(silent.fd, "Fi", 2), 2);
	assert_int_equal(fib_wire_connect(&stuck, path, LONG), 0);
	assert_int_equal(fib_wire_request(&stuck, FIB_WIRE_LIST, NULL, 0), 0);
	for (i = 0; i < 50; i++)
		assert_served();
	fib_wire_disconnect(&silent);
	fib_wire_disconnect(&stuck);
	for (i = fib_countof(many); i-- > 0;)
		record_end(many[i]);
}

/* Sixteen idle clients stay connected: the seventeenth replaces the first of them, and only that
 * one. */
static void test_service_lets_the_longest_silent_of_sixteen_give_way(void **state)
{
	struct fib_wire_client c[16];
	struct fib_wire_header h;
	const void *payload;
	int i;

	(void)state;
	for (i = 0; i < 16; i++) {
		assert_int_equal(fib_wire_connect(&c[i], path, LONG), 0);
		assert_int_equal(fib_wire_request(&c[i], FIB_WIRE_HELLO, NULL, 0), 0);
		do
			assert_int_equal(fib_wire_receive(&c[i], &h, &payload), 0);
		while (h.type != FIB_WIRE_END);
	}
	assert_served();
	assert_int_equal(fib_wire_request(&c[0], FIB_WIRE_HELLO, NULL, 0), 0);
	assert_int_equal(fib_wire_receive(&c[0], &h, &payload), -ECONNRESET);
	for (i = 1; i < 16; i++) {
		assert_int_equal(fib_wire_request(&c[i], FIB_WIRE_HELLO, NULL, 0), 0);
		assert_int_equal(fib_wire_receive(&c[i], &h, &payload), 0);
		assert_int_equal(h.type, FIB_WIRE_PROCESS);
	}
	for (i = 0; i < 16; i++)
		fib_wire_disconnect(&c[i]);
}

/*
 * Make a request as another user. Returns what that user got: the child's exit code is the error.
 */
static int asked_as_nobody(void)
{
	int status, error;
	pid_t pid = fork();

	if (pid == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(99);
		ask(path, FIB_WIRE_HELLO, &error);
		_exit(-error);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_service_refuses_another_user_even_when_the_files_let_him_in(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_served(); /* the service thread has started: see the harness' threads.h */
	assert_int_equal(asked_as_nobody(), EACCES);
	assert_int_equal(chmod(harness_folder(), 0711), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(asked_as_nobody(), EPERM);
	chmod(harness_folder(), 0700);
	assert_served();
}

static void test_service_is_the_parents_after_fork(void **state)
{
	char own[HARNESS_PATH];
	int status, error;
	pid_t pid;

	(void)state;
	/* ThreadSanitizer allows no threads in a child of a program with threads. */
	if (strcmp(harness_sanitizer(), "thread") == 0)
		skip();
	harness_file(own, "child.sock");
	assert_served(); /* so the thread has started */
	pid = fork();
	if (pid == 0) {
		fib_service_leave(); /* of the parent's runtime, which does not exist here */
		if (access(path, F_OK) != 0)
			_exit(1);
		if (fib_service_enter(own, "child") != 0)
			_exit(2);
		if (ask(own, FIB_WIRE_HELLO, &error) != FIB_WIRE_END)
			_exit(3);
		fib_service_leave();
		_exit(access(own, F_OK) == 0 ? 4 : 0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_served();
}

/* How often the service thread has gone to sleep so far; -1: there is no such thread. */
static long rests(void)
{
	DIR *dir = opendir("/proc/self/task");
	char file[300], line[256];
	struct dirent *entry;
	long count = -1, n;
	bool service;
	FILE *status;

	while ((entry = readdir(dir))) {
		snprintf(file, sizeof file, "/proc/self/task/%s/status", entry->d_name);
		status = fopen(file, "re");
		service = false;
		while (status && fgets(line, sizeof line, status)) {
			if (strcmp(line, "Name:\tfiber-service\n") == 0)
				service = true;
			if (service && sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
				count = n;
		}
		if (status)
			fclose(status);
	}
	closedir(dir);
	return count;
}

static long rests_before;

static bool has_come_to_rest(void *arg)
{
	long now = rests();
	bool same = now == rests_before;

	(void)arg;
	rests_before = now;
	usleep(200000);
	return same && now > 0 && rests() == now;
}

static void test_service_does_not_wake_up_while_nothing_happens(void **state)
{
	(void)state;
	rests_before = -1;
	assert_true(harness_until(has_come_to_rest, NULL, 20));
	assert_served();
}

static void test_service_leaves_no_descriptor_behind(void **state)
{
	int before, after;

	(void)state;
	fib_service_leave();
	before = dup(STDERR_FILENO);
	close(before);
	assert_int_equal(fib_service_enter(path, "unit"), 0);
	assert_served();
	fib_service_leave();
	after = dup(STDERR_FILENO);
	close(after);
	assert_int_equal(after, before);
	assert_int_equal(fib_service_enter(path, "unit"), 0);
}

#define SERVICE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVICE_TEST(test_service_answers_over_its_socket),
		SERVICE_TEST(test_service_is_one_however_many_enter),
		SERVICE_TEST(test_service_removes_its_socket_with_the_last),
		SERVICE_TEST(test_service_off_makes_no_socket),
		SERVICE_TEST(test_service_goes_on_after_garbage),
		SERVICE_TEST(test_service_serves_others_beside_the_silent_and_the_stuck),
		SERVICE_TEST(test_service_lets_the_longest_silent_of_sixteen_give_way),
		SERVICE_TEST(test_service_refuses_another_user_even_when_the_files_let_him_in),
		SERVICE_TEST(test_service_is_the_parents_after_fork),
		SERVICE_TEST(test_service_does_not_wake_up_while_nothing_happens),
		SERVICE_TEST(test_service_leaves_no_descriptor_behind),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
