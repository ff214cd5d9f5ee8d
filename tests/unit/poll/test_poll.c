/* SPDX-License-Identifier: MIT */
/*
 * test_poll.c - what every poller promises, and what only poll(2) must handle
 *
 * poll(2) reports a state: a reported event must not be reported again and again, and an event that
 * is wanted again must be reported though nothing changed.
 */
#define POLLER fib_poller_poll
#include "cases.h"
#include "refused.h"

#include <sched.h>
#include <sys/syscall.h>

static void test_poll_tells_what_is_wanted_again_though_nothing_changed(void **state)
{
	(void)state;
	put(b);
	assert_int_equal(ops->watch(poller, a, 7), 0);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].events, POLLIN | POLLOUT);
	assert_int_equal(look(), 0);
	again(a, 8, POLLIN);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].token, 8);
	assert_int_equal(events[0].events, POLLIN); /* no fiber wants to write */
	assert_int_equal(look(), 0);
}

static void test_poll_tells_only_what_is_wanted(void **state)
{
	(void)state;
	put(b);
	again(a, 1, POLLPRI);
	assert_int_equal(look(), 0);
	again(a, 1, POLLOUT);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].events, POLLOUT);
	assert_int_equal(look(), 0);
	/* A request for fewer events does not reduce another's. */
	again(a, 1, POLLIN | POLLOUT);
	again(a, 2, POLLPRI);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].events, POLLIN | POLLOUT);
}

static void test_poll_tells_a_hang_up_once_until_it_is_wanted_again(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	again(ends[0], 3, 0);
	assert_int_equal(look(), 0);
	close(ends[1]);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].events, POLLHUP);
	assert_int_equal(look(), 0);
	again(ends[0], 3, POLLIN);
	assert_int_equal(look(), 1);
	assert_int_equal(look(), 0);
	close(ends[0]);
}

/* The number may be reused by the time the close is noticed. */
static void test_poll_tells_once_of_a_descriptor_closed_behind_its_back(void **state)
{
	int fd = dup(a);

	(void)state;
	again(fd, 9, POLLIN);
	assert_int_equal(look(), 0);
	close(fd);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].token, 9);
	assert_int_equal(events[0].events, POLLERR);
	assert_int_equal(look(), 0);
	assert_int_equal(dup2(b, fd), fd);
	put(a);
	assert_int_equal(look(), 0);
	again(fd, 10, POLLIN);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].token, 10);
	close(fd);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)ops->wait(poller, events, MANY, INT64_MAX);
}

static void test_poll_hears_during_a_wait_of_what_others_want(void **state)
{
	pthread_t thread;
	void *n;
	int i;

	(void)state;
	put(b);
	for (i = 0; i < 200; i++) {
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		if (i % 2)
			sched_yield();
		again(a, (uint64_t)i, POLLIN);
		pthread_join(thread, &n);
		assert_int_equal((intptr_t)n, 1);
		assert_int_equal(events[0].token, i);
	}
}

/* poll(2) holds the file open: unless it is interrupted, the peer is not notified of the close. */
static void test_poll_lets_go_of_what_is_forgotten_during_a_wait(void **state)
{
	struct pollfd other = {.events = POLLIN};
	pthread_t thread;
	char byte;
	void *n;
	int i, ends[2];

	(void)state;
	for (i = 0; i < 100; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		again(ends[0], 1, POLLIN);
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		if (i % 2)
			sched_yield();
		ops->forget(poller, ends[0]);
		close(ends[0]);
		other.fd = ends[1];
		assert_int_equal(poll(&other, 1, -1), 1);
		assert_int_equal(read(ends[1], &byte, 1), 0);
		close(ends[1]);
		ops->wake(poller);
		pthread_join(thread, &n);
		assert_int_equal((intptr_t)n, 0);
	}
}

static void test_poll_gives_everybody_a_turn_when_all_are_wanted_again_at_once(void **state)
{
	int fds[10], i, n, rounds;
	unsigned seen[10] = {0};

	(void)state;
	for (i = 0; i < 10; i++) {
		fds[i] = dup(a);
		again(fds[i], (uint64_t)i, POLLOUT);
	}
	for (rounds = 0; rounds < 100; rounds++) {
		n = ops->wait(poller, events, 3, 0);
		assert_int_equal(n, 3);
		for (i = 0; i < n; i++) {
			seen[events[i].token]++;
			again(fds[events[i].token], events[i].token, POLLOUT);
		}
	}
	for (i = 0; i < 10; i++) {
		assert_in_range(seen[i], 15, 60);
		close(fds[i]);
	}
}

/* -- another thread waits -- */

static int readable(int timeout)
{
	struct pollfd p = {.fd = ops->descriptor(poller), .events = POLLIN};

	return poll(&p, 1, timeout) == 1 && p.revents == POLLIN;
}

static void test_poll_descriptor_is_readable_as_long_as_a_wait_would_return(void **state)
{
	(void)state;
	ops->wake(poller);
	assert_int_equal(ops->lend(poller), 0);
	assert_true(readable(0)); /* woken before it was lent */
	assert_int_equal(look(), 0);
	assert_false(readable(0));
	ops->wake(poller);
	assert_true(readable(0));
	assert_true(readable(0));
	assert_int_equal(look(), 0);
	assert_false(readable(0));
	assert_int_equal(ops->watch(poller, a, 9), 0);
	assert_true(readable(-1)); /* it is writable */
	assert_true(readable(0));
	assert_int_equal(look(), 1);
	assert_false(readable(5));
	again(a, 9, POLLIN);
	assert_false(readable(5));
	put(b);
	assert_true(readable(-1));
	assert_int_equal(look(), 1);
	/* The byte is still there, but no fiber wants it. */
	assert_false(readable(5));
}

static void test_poll_descriptor_stays_readable_when_a_wait_leaves_something(void **state)
{
	int fds[5], i;

	(void)state;
	assert_int_equal(ops->lend(poller), 0);
	for (i = 0; i < 5; i++) {
		fds[i] = dup(a);
		again(fds[i], (uint64_t)i, POLLOUT);
	}
	for (i = 0; i < 5; i++) {
		assert_true(readable(-1));
		assert_int_equal(ops->wait(poller, events, 1, 0), 1);
	}
	assert_false(readable(5));
	for (i = 0; i < 5; i++)
		close(fds[i]);
}

static void *wakes_and_puts(void *arg)
{
	int i;

	for (i = 0; i < 300; i++) {
		ops->wake(poller);
		if (i % 3 == 0)
			*(volatile int *)arg += (int)write(b, "x", 1);
	}
	return NULL;
}

/* The idle hook polls like this: an event between a look and the next poll(2) must not be lost. */
static void test_poll_descriptor_tells_of_everything_to_one_who_only_polls_it(void **state)
{
	volatile int written = 0;
	char bytes[128];
	pthread_t thread;
	int got = 0;
	ssize_t n;

	(void)state;
	assert_int_equal(ops->lend(poller), 0);
	again(a, 1, POLLIN);
	pthread_create(&thread, NULL, wakes_and_puts, (void *)(uintptr_t)&written);
	while (got < 100) {
		assert_true(readable(-1));
		if (look() != 1)
			continue;
		while ((n = read(a, bytes, sizeof bytes)) > 0)
			got += (int)n;
		again(a, 1, POLLIN);
	}
	pthread_join(thread, NULL);
	assert_int_equal(written, 100);
}

static void test_poll_waits_as_well_without_ppoll_or_fstat(void **state)
{
	(void)state;
	assert_waits_without(SYS_ppoll);
	assert_waits_without(SYS_newfstatat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASES,
		CASE(test_poll_tells_what_is_wanted_again_though_nothing_changed),
		CASE(test_poll_tells_only_what_is_wanted),
		CASE(test_poll_tells_a_hang_up_once_until_it_is_wanted_again),
		CASE(test_poll_tells_once_of_a_descriptor_closed_behind_its_back),
		CASE(test_poll_hears_during_a_wait_of_what_others_want),
		CASE(test_poll_lets_go_of_what_is_forgotten_during_a_wait),
		CASE(test_poll_gives_everybody_a_turn_when_all_are_wanted_again_at_once),
		CASE(test_poll_descriptor_is_readable_as_long_as_a_wait_would_return),
		CASE(test_poll_descriptor_stays_readable_when_a_wait_leaves_something),
		CASE(test_poll_descriptor_tells_of_everything_to_one_who_only_polls_it),
		CASE(test_poll_waits_as_well_without_ppoll_or_fstat),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
