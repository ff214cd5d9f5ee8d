/* SPDX-License-Identifier: MIT */
/*
 * cases.h - what poller.h promises, tested with real descriptors
 *
 * Each poller's test includes this file and names its poller: POLLER. An event reported twice wakes
 * a fiber for nothing; a lost event lets it sleep for ever.
 */
#ifndef UNIT_POLL_CASES_H
#define UNIT_POLL_CASES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/os.h"
#include "poll/poller.h"
#include "tests/harness/child.h"
#include "tests/harness/entries.h"
#include "tests/harness/watchdog.h"

#define MILLISECOND INT64_C(1000000)
#define LONG	    (20000 * MILLISECOND)
#define MANY	    100
/* How many descriptors are too few to open the poller. */
#ifndef TOO_FEW
#define TOO_FEW 1
#endif

static const struct fib_poller_ops *const ops = &POLLER;
static struct fib_poller *poller;
static struct fib_poll_event events[MANY];
static int a, b; /* two ends of a socket pair */

static int setup(void **state)
{
	int ends[2];

	(void)state;
	if (ops->open(&poller) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		return -1;
	a = ends[0];
	b = ends[1];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(a);
	close(b);
	ops->close(poller);
	return 0;
}

/* Poll without waiting and return the number of ready events. */
static int look(void)
{
	return ops->wait(poller, events, MANY, 0);
}

/* A fiber is about to wait for events of fd, whose token is given. */
static void again(int fd, uint64_t token, short wanted)
{
	if (ops->want)
		assert_int_equal(ops->want(poller, fd, token, wanted), 0);
}

static void put(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

static void test_poller_tells_an_edge_once_and_each_new_one(void **state)
{
	char byte;

	(void)state;
	assert_int_equal(ops->watch(poller, a, 7), 0);
	assert_int_equal(look(), 1); /* ready when the watch starts: writable */
	assert_int_equal(events[0].token, 7);
	assert_int_equal(events[0].events, POLLOUT);
	assert_int_equal(look(), 0);

	put(b);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].token, 7);
	assert_true(events[0].events & POLLIN);
	assert_int_equal(look(), 0); /* unread, but no new event */
	again(a, 7, POLLIN);
	put(b);
	assert_int_equal(look(), 1);
	assert_int_equal(read(a, &byte, 1), 1);
	assert_int_equal(look(), 0);
}

static void test_poller_carries_any_token_but_its_own(void **state)
{
	static const uint64_t tokens[] = {0, 1, UINT64_C(0x8000000000000001), UINT64_MAX - 1};
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(tokens); i++) {
		/*
		 * The same descriptor is watched again: the new token replaces the old one, and
		 * ready events are reported.
		 */
		assert_int_equal(ops->watch(poller, a, tokens[i]), 0);
		assert_int_equal(look(), 1);
		assert_true(events[0].token == tokens[i]);
	}
	put(b);
	assert_int_equal(look(), 1);
	assert_true(events[0].token == UINT64_MAX - 1);
}

static void test_poller_forgets(void **state)
{
	(void)state;
	assert_int_equal(ops->watch(poller, a, 1), 0);
	assert_int_equal(look(), 1);
	ops->forget(poller, a);
	put(b);
	assert_int_equal(look(), 0);
	ops->forget(poller, a); /* nothing left to forget */
	assert_int_equal(ops->watch(poller, a, 2), 0);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].token, 2);
	assert_int_equal(events[0].events & POLLIN, POLLIN);
}

static void test_poller_wakes_readers_of_a_peer_that_hung_up(void **state)
{
	(void)state;
	assert_int_equal(ops->watch(poller, a, 1), 0);
	assert_int_equal(look(), 1);
	shutdown(b, SHUT_WR); /* half closed: a reads the end, and can still write */
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].events & (POLLIN | POLLRDHUP), POLLIN | POLLRDHUP);
	assert_int_equal(events[0].events & POLLHUP, 0);
	close(b);
	b = dup(a);
	again(a, 1, POLLIN);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].events & (POLLIN | POLLHUP), POLLIN | POLLHUP);
}

static void test_poller_tells_a_writer_that_nobody_reads(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(ops->watch(poller, ends[1], 1), 0);
	assert_int_equal(look(), 1);
	close(ends[0]);
	assert_int_equal(look(), 1);
	assert_true(events[0].events & POLLERR);
	close(ends[1]);
}

static void test_poller_refuses_what_it_cannot_watch(void **state)
{
	int file = open("/proc/self/exe", O_RDONLY);

	(void)state;
	assert_int_equal(ops->watch(poller, file, 1), -EPERM);
	if (ops->want)
		assert_int_equal(ops->want(poller, file, 1, POLLIN), -EPERM);
	close(file);
	assert_int_equal(ops->watch(poller, file, 1), -EBADF);
	assert_int_equal(ops->watch(poller, -1, 1), -EBADF);
}

static void test_poller_does_not_return_before_its_deadline(void **state)
{
	static const int64_t waits[] = {MILLISECOND / 5, 3 * MILLISECOND, 30 * MILLISECOND};
	int64_t until;
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(waits); i++) {
		until = fib_os_now() + waits[i];
		assert_int_equal(ops->wait(poller, events, MANY, until), 0);
		assert_true(fib_os_now() >= until);
		assert_true(fib_os_now() < until + LONG);
	}
	/* With an expired deadline it looks without waiting. */
	put(a);
	assert_int_equal(ops->watch(poller, b, 5), 0);
	assert_int_equal(ops->wait(poller, events, MANY, 1), 1);
	assert_int_equal(ops->wait(poller, events, MANY, 1), 0);
	assert_int_equal(ops->wait(poller, events, MANY, INT64_MIN), 0);
}

static void *wake_it(void *arg)
{
	(void)arg;
	ops->wake(poller);
	return NULL;
}

static void test_poller_wake_ends_the_wait_of_another_thread(void **state)
{
	pthread_t thread;
	int i;

	(void)state;
	/* If one of these waits for ever, the watchdog reports it. */
	for (i = 0; i < 200; i++) {
		pthread_create(&thread, NULL, wake_it, NULL);
		assert_int_equal(ops->wait(poller, events, MANY, INT64_MAX), 0);
		pthread_join(thread, NULL);
	}
}

static void test_poller_wakes_are_kept_for_the_next_wait_and_count_as_one(void **state)
{
	int64_t until = fib_os_now() + LONG;
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		ops->wake(poller);
	assert_int_equal(ops->wait(poller, events, MANY, until), 0);
	assert_true(fib_os_now() < until);
	until = fib_os_now() + 5 * MILLISECOND;
	assert_int_equal(ops->wait(poller, events, MANY, until), 0);
	assert_true(fib_os_now() >= until);
}

static void test_poller_wake_hides_no_event(void **state)
{
	(void)state;
	assert_int_equal(ops->watch(poller, a, 9), 0);
	ops->wake(poller);
	assert_int_equal(ops->wait(poller, events, MANY, fib_os_now() + LONG), 1);
	assert_int_equal(events[0].token, 9);
}

static void test_poller_loses_nothing_when_more_is_ready_than_asked_for(void **state)
{
	int fds[MANY][2], i, n, rounds = 0, met = 0;
	unsigned seen[MANY] = {0};

	(void)state;
	for (i = 0; i < MANY; i++) {
		assert_int_equal(pipe2(fds[i], O_NONBLOCK), 0);
		assert_int_equal(ops->watch(poller, fds[i][0], (uint64_t)i), 0);
		put(fds[i][1]);
	}
	ops->wake(poller);
	while (met < MANY && rounds++ < 2 * MANY) {
		n = ops->wait(poller, events, 7, 0);
		assert_in_range(n, 0, 7);
		for (i = 0; i < n; i++)
			seen[events[i].token]++;
		met += n;
	}
	for (i = 0; i < MANY; i++) {
		assert_int_equal(seen[i], 1);
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

static void on_alarm(int number)
{
	(void)number;
}

static void test_poller_interrupted_by_a_signal_is_no_error(void **state)
{
	const struct itimerval soon = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm}, before;
	int rc;

	(void)state;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &soon, NULL);
	rc = ops->wait(poller, events, MANY, INT64_MAX);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_int_equal(rc, 0);
}

static int open_with_too_few_descriptors(void *arg)
{
	const unsigned before = harness_descriptors();
	const int spare = dup(a);
	struct fib_poller *other = arg;
	struct rlimit all, few;

	close(spare);
	getrlimit(RLIMIT_NOFILE, &all);
	few = (struct rlimit){(rlim_t)spare + TOO_FEW, all.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &few))
		return 1;
	if (ops->open(&other) != -EMFILE || other != arg)
		return 2;
	setrlimit(RLIMIT_NOFILE, &all);
	return harness_descriptors() == before ? 0 : 3;
}

static void test_poller_that_cannot_be_opened_leaves_no_descriptor(void **state)
{
	struct harness_child child;

	(void)state;
	harness_child(open_with_too_few_descriptors, NULL, 20, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

static void test_poller_closes_what_it_opened(void **state)
{
	const unsigned before = harness_descriptors();
	int i;
	struct fib_poller *other;

	(void)state;
	for (i = 0; i < 10; i++) {
		assert_int_equal(ops->open(&other), 0);
		assert_int_equal(ops->watch(other, a, 1), 0);
		ops->close(other);
	}
	assert_int_equal(harness_descriptors(), before);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#define CASES                                                                               \
	CASE(test_poller_tells_an_edge_once_and_each_new_one),                              \
		CASE(test_poller_carries_any_token_but_its_own), CASE(test_poller_forgets), \
		CASE(test_poller_wakes_readers_of_a_peer_that_hung_up),                     \
		CASE(test_poller_tells_a_writer_that_nobody_reads),                         \
		CASE(test_poller_refuses_what_it_cannot_watch),                             \
		CASE(test_poller_does_not_return_before_its_deadline),                      \
		CASE(test_poller_wake_ends_the_wait_of_another_thread),                     \
		CASE(test_poller_wakes_are_kept_for_the_next_wait_and_count_as_one),        \
		CASE(test_poller_wake_hides_no_event),                                      \
		CASE(test_poller_loses_nothing_when_more_is_ready_than_asked_for),          \
		CASE(test_poller_interrupted_by_a_signal_is_no_error),                      \
		CASE(test_poller_that_cannot_be_opened_leaves_no_descriptor),               \
		CASE(test_poller_closes_what_it_opened)

#endif
