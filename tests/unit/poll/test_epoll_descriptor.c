/* SPDX-License-Identifier: MIT */
/* test_epoll_descriptor.c - poll(2) on the poller's descriptor sees what the poller would */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "poll/poller.h"
#include "tests/harness/watchdog.h"

static const struct fib_poller_ops *const ops = &fib_poller_epoll;

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static int look(struct fib_poller *p)
{
	struct fib_poll_event events[4];

	return ops->wait(p, events, 4, 0);
}

static void test_epoll_descriptor_is_readable_as_long_as_a_wait_would_return(void **state)
{
	struct fib_poller *p;
	int ends[2], fd;

	(void)state;
	assert_int_equal(ops->open(&p), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	fd = ops->descriptor(p);
	assert_false(readable(fd));
	ops->wake(p);
	assert_true(readable(fd));
	assert_true(readable(fd));
	assert_int_equal(look(p), 0);
	assert_false(readable(fd));
	assert_int_equal(ops->watch(p, ends[0], 9), 0);
	assert_int_equal(look(p), 1); /* it is writable */
	assert_false(readable(fd));
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_true(readable(fd));
	assert_true(readable(fd));
	assert_int_equal(look(p), 1);
	/* That was the edge, though the byte is still unread. */
	assert_false(readable(fd));
	close(ends[0]);
	close(ends[1]);
	ops->close(p);
}

static void test_epoll_descriptor_can_be_watched_by_another_epoll(void **state)
{
	struct epoll_event event = {.events = EPOLLIN};
	int outer = epoll_create1(EPOLL_CLOEXEC);
	struct fib_poller *p;

	(void)state;
	assert_true(outer >= 0);
	assert_int_equal(ops->open(&p), 0);
	assert_int_equal(epoll_ctl(outer, EPOLL_CTL_ADD, ops->descriptor(p), &event), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
		ops->wake(p);
		assert_int_equal(epoll_wait(outer, &event, 1, -1), 1);
		assert_int_equal(look(p), 0);
	}
	ops->close(p);
	close(outer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_epoll_descriptor_is_readable_as_long_as_a_wait_would_return),
		cmocka_unit_test(test_epoll_descriptor_can_be_watched_by_another_epoll),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
