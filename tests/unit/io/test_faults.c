/* SPDX-License-Identifier: MIT */
/*
 * test_faults.c - answers that the kernel may give at any time, and seldom gives
 *
 * The library's system calls are replaced here. A fault is armed for a number of calls.
 */
#include "fault.h"
#include "inside.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "os/calls.h"

static struct fault watching, receiving, sending;

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	if (op != EPOLL_CTL_DEL && fails(&watching))
		return -1;
	return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}

/* Both functions replace those of one file of the library, which is not linked in. */
ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	ssize_t n;

	if (fails(&receiving))
		return -receiving.error;
	if (receiving.at_most && size > receiving.at_most)
		size = receiving.at_most;
	n = recv(fd, buf, size, flags);
	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	ssize_t n;

	if (fails(&sending))
		return -sending.error;
	if (sending.at_most && size > sending.at_most)
		size = sending.at_most;
	n = send(fd, buf, size, flags);
	return n < 0 ? -errno : n;
}

static int pair[2];

static int make_pair(void **state)
{
	(void)state;
	watching.calls = receiving.calls = sending.calls = 0;
	watching.at_most = receiving.at_most = sending.at_most = 0;
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static void *do_close(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

static int end_pair(void **state)
{
	(void)state;
	close(pair[1]);
	return (int)inside(do_close, &pair[0]);
}

struct move {
	char bytes[16];
	size_t size;
	int64_t deadline;
};

static void *do_read(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_read(pair[0], m->bytes, m->size, m->deadline);
}

static void *do_write(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_write(pair[0], m->bytes, m->size, m->deadline);
}

static void test_faults_of_a_registration_are_told_and_lose_nothing(void **state)
{
	static const int errors[] = {ENOMEM, ENOSPC};
	struct move m = {"", sizeof m.bytes, FIBER_FOREVER};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		arm(&watching, errors[i], 1);
		assert_int_equal(inside(do_read, &m), -errors[i]);
		assert_int_equal(watching.failed, 1);
		/* When there is memory again, the read waits as usual. */
		m.deadline = fiber_after(MS);
		assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
		m.deadline = FIBER_FOREVER;
		assert_int_equal(send(pair[1], "bytes", 5, 0), 5);
		assert_int_equal(inside(do_read, &m), 5);
	}
}

static void *do_wait(void *arg)
{
	return (void *)(intptr_t)fiber_wait_fd(pair[0], POLLIN, *(int64_t *)arg);
}

static void test_faults_of_a_registration_reach_who_waits_for_readiness(void **state)
{
	int64_t deadline = FIBER_FOREVER;

	(void)state;
	arm(&watching, ENOMEM, 1);
	assert_int_equal(inside(do_wait, &deadline), -ENOMEM);
	assert_int_equal(send(pair[1], "bytes", 5, 0), 5);
	assert_int_equal(inside(do_wait, &deadline), POLLIN);
}

static void test_faults_that_are_interruptions_are_seen_by_nobody(void **state)
{
	struct move m = {"here", 4, FIBER_FOREVER};

	(void)state;
	arm(&sending, EINTR, 5);
	assert_int_equal(inside(do_write, &m), 4);
	assert_int_equal(sending.failed, 5);
	assert_int_equal(send(pair[1], "there", 5, 0), 5);
	m.size = sizeof m.bytes;
	arm(&receiving, EINTR, 5);
	assert_int_equal(inside(do_read, &m), 5);
	assert_int_equal(receiving.failed, 5);
}

static void test_faults_without_buffers_come_through_and_move_nothing(void **state)
{
	static const int errors[] = {ENOBUFS, ENOMEM};
	struct move m = {"here", 4, FIBER_FOREVER};
	char got[16];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		arm(&sending, errors[i], 1);
		assert_int_equal(inside(do_write, &m), -errors[i]);
		assert_int_equal(inside(do_write, &m), 4);
		assert_int_equal(recv(pair[1], got, sizeof got, 0), 4);
	}
}

static void test_faults_of_a_wait_that_says_ready_and_is_not_are_waited_out(void **state)
{
	struct move m = {"", sizeof m.bytes, FIBER_FOREVER};

	(void)state;
	/* The reads fail as if another reader had been quicker: each time the fiber waits again. */
	arm(&receiving, EAGAIN, 3);
	assert_int_equal(send(pair[1], "bytes", 5, 0), 5);
	assert_int_equal(inside(do_read, &m), 5);
	assert_int_equal(receiving.failed, 3);
}

static void test_faults_that_are_short_counts_are_counts(void **state)
{
	struct move m = {"0123456789", 10, FIBER_FOREVER};
	char got[16];
	int i;

	(void)state;
	sending.at_most = 3;
	assert_int_equal(inside(do_write, &m), 3);
	sending.at_most = 0;
	assert_int_equal(recv(pair[1], got, sizeof got, 0), 3);
	receiving.at_most = 1;
	assert_int_equal(send(pair[1], "abcde", 5, 0), 5);
	for (i = 0; i < 5; i++) {
		assert_int_equal(inside(do_read, &m), 1);
		assert_int_equal(m.bytes[0], 'a' + i);
	}
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_pair, end_pair)
	const struct CMUnitTest tests[] = {
		EACH(test_faults_of_a_registration_are_told_and_lose_nothing),
		EACH(test_faults_of_a_registration_reach_who_waits_for_readiness),
		EACH(test_faults_that_are_interruptions_are_seen_by_nobody),
		EACH(test_faults_without_buffers_come_through_and_move_nothing),
		EACH(test_faults_of_a_wait_that_says_ready_and_is_not_are_waited_out),
		EACH(test_faults_that_are_short_counts_are_counts),
	};

	harness_watchdog(60);
	/* The tested failure is that of epoll's registration. */
	setenv("FIBER_POLLER", "epoll", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
