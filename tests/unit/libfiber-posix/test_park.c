/* SPDX-License-Identifier: MIT */
/* test_park.c - where calls park: in fibers, unless the fiber says otherwise; errno after a wait */
#include "outcome.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/syscall.h>

#include <fiber/posix.h>

static int fds[2];

static int open_pipe(void **state)
{
	(void)state;
	return pipe(fds);
}

static int close_pipe(void **state)
{
	(void)state;
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static _Atomic bool blocked;

/* The carrier blocks: its thread is in the system, and the fiber stays running. */
static void *reads_blocking(void *arg)
{
	char byte;
	intptr_t n;

	n = fiber_posix_blocking(true) ? -10 : 0;
	n += fiber_posix_blocking(true) ? 0 : -20;
	blocked = true;
	n += read(fds[0], &byte, 1);
	n += fiber_posix_blocking(false) ? 0 : -40;
	(void)arg;
	return (void *)n;
}

/* Whether a thread of this process is in read(2) of the pipe. */
static bool is_in_system(void)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *thread;
	bool reads = false;

	while (!reads && (thread = readdir(threads))) {
		char path[300];
		long number;
		unsigned long fd;
		FILE *in;

		snprintf(path, sizeof path, "/proc/self/task/%s/syscall", thread->d_name);
		in = fopen(path, "r");
		reads = in && fscanf(in, "%ld %lx", &number, &fd) == 2 && number == SYS_read &&
			fd == (unsigned long)fds[0];
		if (in)
			fclose(in);
	}
	closedir(threads);
	return reads;
}

static void test_blocking_stretch_blocks_the_carrier(void **state)
{
	struct fiber *f;

	(void)state;
	blocked = false;
	f = inside_spawn(reads_blocking, NULL);
	while (!blocked)
		sched_yield();
	while (!is_in_system())
		sched_yield();
	assert_int_equal(fiber_state(f), FIBER_RUNNING);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 1);
}

static void *reads(void *arg)
{
	char byte;

	return outcome(arg, read(fds[0], &byte, 1));
}

static void test_blocking_stretch_is_one_fiber_s_own_and_ends(void **state)
{
	struct call c = {0};
	struct fiber *f, *other;

	(void)state;
	blocked = false;
	f = inside_spawn(reads_blocking, NULL);
	while (!blocked)
		sched_yield();
	other = inside_suspended(reads, &c);
	assert_int_equal(write(fds[1], "xx", 2), 2);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(inside_join(other), 1);
}

static void test_thread_has_no_blocking_stretch(void **state)
{
	(void)state;
	assert_false(fiber_posix_blocking(true));
	assert_false(fiber_posix_blocking(true));
	assert_true(fiber_posix_linked());
}

/* errno is read by code that keeps its address. */
static void *many_errors(void *arg)
{
	int *const error = &errno;
	intptr_t wrong = 0;
	char byte;
	const struct timeval t = {0, 1000};
	int pair[2];

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return (void *)(intptr_t)-1;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
	for (int i = 0; i < 50; i++) {
		*error = 0;
		wrong += read(pair[0], &byte, 1) != -1 || *error != EAGAIN;
	}
	close(pair[0]);
	close(pair[1]);
	return (void *)wrong;
}

static void test_errno_has_the_same_address_after_a_wait(void **state)
{
	struct fiber *f[16];

	(void)state;
	for (int i = 0; i < 16; i++)
		f[i] = inside_spawn(many_errors, NULL);
	for (int i = 0; i < 16; i++)
		assert_int_equal(inside_join(f[i]), 0);
}

/* libfiber's own calls on a fiber's stack are the system's. */
static void *reads_with_libfiber(void *arg)
{
	char byte;

	(void)arg;
	return (void *)fiber_read(fds[0], &byte, 1, FIBER_FOREVER);
}

static void test_calls_of_libfiber_itself_reach_the_system(void **state)
{
	struct fiber *f = inside_suspended(reads_with_libfiber, NULL);

	(void)state;
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_blocking_stretch_blocks_the_carrier, open_pipe,
						close_pipe),
		cmocka_unit_test_setup_teardown(test_blocking_stretch_is_one_fiber_s_own_and_ends,
						open_pipe, close_pipe),
		cmocka_unit_test(test_thread_has_no_blocking_stretch),
		cmocka_unit_test(test_errno_has_the_same_address_after_a_wait),
		cmocka_unit_test_setup_teardown(test_calls_of_libfiber_itself_reach_the_system,
						open_pipe, close_pipe),
	};

	OUTCOME_MAIN(tests);
}
