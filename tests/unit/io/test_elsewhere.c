/* SPDX-License-Identifier: MIT */
/* test_elsewhere.c - another process shares the open file: it keeps it open, reads, sees flags */
#include "inside.h"

#include <sys/wait.h>

#define NUMBER 260
#define BYTES  3000

struct reader {
	char bytes[16];
	ssize_t got;
};

static void *read_number(void *arg)
{
	struct reader *r = arg;

	r->got = fiber_read(NUMBER, r->bytes, sizeof r->bytes, FIBER_FOREVER);
	return NULL;
}

static struct fiber *begin(struct reader *r)
{
	struct fiber *f = inside_suspended(read_number, r);

	return f;
}

/* A child that has all our descriptors until the gate's writing end is closed. */
static pid_t keep_open(int gate[2])
{
	pid_t child;
	char byte;

	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
	}
	assert_true(child > 0);
	close(gate[0]);
	return child;
}

static void let_go(pid_t child, int gate)
{
	int status = -1;

	close(gate);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void open_under_number(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(dup2(fds[0], NUMBER), NUMBER);
	close(fds[0]);
}

/*
 * Another process keeps the closed file open. The poller here still gets its events, under a number
 * that is reused.
 */
static void test_elsewhere_file_that_lives_on_elsewhere_wakes_nobody_here(void **state)
{
	int before[2], after[2], gate[2];
	struct reader r = {.got = 0};
	struct fiber *f;
	pid_t child;

	(void)state;
	open_under_number(before);
	f = begin(&r);
	assert_int_equal(write(before[1], "old", 3), 3);
	inside_join(f);
	assert_int_equal(r.got, 3);
	child = keep_open(gate);
	/* Closed by a thread, which cannot notify the poller. */
	assert_int_equal(fiber_close(NUMBER), 0);
	open_under_number(after);
	f = begin(&r);
	assert_int_equal(write(before[1], "stale", 5), 5);
	assert_int_equal(fiber_join(f, NULL, fiber_after(5 * MS)), -ETIMEDOUT);
	assert_int_equal(write(after[1], "fresh!", 6), 6);
	inside_join(f);
	assert_int_equal(r.got, 6);
	assert_memory_equal(r.bytes, "fresh!", 6);
	fiber_close(NUMBER);
	close(before[1]);
	close(after[1]);
	let_go(child, gate[1]);
}

static void *count_bytes(void *arg)
{
	const int fd = *(int *)arg;
	intptr_t count = 0;
	char byte;

	while (fiber_read(fd, &byte, 1, FIBER_FOREVER) == 1)
		count++;
	return (void *)count;
}

/*
 * Each byte is read by one process. A fiber that polls and then reads in blocking mode would block
 * if the other process read the byte in between.
 */
static void test_elsewhere_file_is_read_by_two_processes(void **state)
{
	int fds[2], told[2], theirs = -1, ours, status;
	struct fiber *f;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0) {
		int count = 0;
		char byte;

		close(fds[1]);
		while (read(fds[0], &byte, 1) == 1)
			count++;
		_exit(write(told[1], &count, sizeof count) == sizeof count ? 0 : 1);
	}
	assert_true(child > 0);
	f = inside_spawn(count_bytes, &fds[0]);
	for (int i = 0; i < BYTES; i++)
		assert_int_equal(write(fds[1], "x", 1), 1);
	close(fds[1]);
	ours = (int)inside_join(f);
	assert_int_equal(read(told[0], &theirs, sizeof theirs), sizeof theirs);
	assert_int_equal(ours + theirs, BYTES);
	assert_int_equal(waitpid(child, &status, 0), child);
	/* The file is in blocking mode, in both processes. */
	assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
	fiber_close(fds[0]);
	close(told[0]);
	close(told[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elsewhere_file_that_lives_on_elsewhere_wakes_nobody_here),
		cmocka_unit_test(test_elsewhere_file_is_read_by_two_processes),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
