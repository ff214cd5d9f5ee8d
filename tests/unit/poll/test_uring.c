/* SPDX-License-Identifier: MIT */
/*
 * test_uring.c - the io_uring poller keeps the promises of poller.h, and keeps no closed file open
 *
 * Without io_uring, in the machine or in this libfiber, there is nothing to test.
 */
#define POLLER fib_poller_uring
#include "cases.h"
#include "refused.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

/* Wait for an event and take all others too. Return the bits of all, which must have this token. */
static int take_all(uint64_t token)
{
	int n = ops->wait(poller, events, MANY, INT64_MAX), told = 0;

	for (; n > 0; n = look())
		while (n--) {
			assert_int_equal(events[n].token, token);
			told |= events[n].events;
		}
	return told;
}

/* Edges under way when a descriptor is watched again belong to the old poll; the new one reports
 * what is ready. */
static void test_uring_tells_the_last_token_only(void **state)
{
	uint64_t token;

	(void)state;
	/* More completions than fit into the ring: the kernel keeps the rest. */
	for (token = 1; token <= 6000; token++)
		assert_int_equal(ops->watch(poller, a, token), 0);
	assert_int_equal(take_all(6000) & POLLOUT, POLLOUT);
	assert_int_equal(look(), 0);
	put(b);
	assert_int_equal(take_all(6000) & POLLIN, POLLIN);
}

static void test_uring_loses_no_edge_when_there_is_no_room_for_it(void **state)
{
	enum { PAIRS = 64 };
	int ends[PAIRS][2], i, round, n;
	bool told[PAIRS] = {false};

	(void)state;
	for (i = 0; i < PAIRS; i++) {
		assert_int_equal(pipe2(ends[i], O_NONBLOCK), 0);
		assert_int_equal(ops->watch(poller, ends[i][0], (uint64_t)i), 0);
	}
	/* No thread takes completions meanwhile: polls end for lack of room and are started
	 * again. */
	for (round = 0; round < 200; round++)
		for (i = 0; i < PAIRS; i++)
			put(ends[i][1]);
	while ((n = look()) > 0)
		for (i = 0; i < n; i++)
			told[events[i].token] = true;
	for (i = 0; i < PAIRS; i++)
		assert_true(told[i]);
	memset(told, 0, sizeof told);
	for (i = 0; i < PAIRS; i++)
		put(ends[i][1]);
	while ((n = look()) > 0)
		for (i = 0; i < n; i++)
			told[events[i].token] = true;
	for (i = 0; i < PAIRS; i++) {
		assert_true(told[i]);
		close(ends[i][0]);
		close(ends[i][1]);
	}
}

static void test_uring_lets_go_of_a_file_that_is_forgotten(void **state)
{
	struct pollfd gone;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(ops->watch(poller, ends[0], 1), 0);
	ops->forget(poller, ends[0]);
	close(ends[0]);
	/* The pipe has no reader now. */
	gone = (struct pollfd){.fd = ends[1], .events = 0};
	assert_int_equal(poll(&gone, 1, 20000), 1);
	assert_true(gone.revents & POLLERR);
	close(ends[1]);
}

static void test_uring_takes_a_number_that_was_used_again_for_what_it_is_now(void **state)
{
	int first[2], second[2];

	(void)state;
	assert_int_equal(pipe2(first, O_NONBLOCK), 0);
	assert_int_equal(pipe2(second, O_NONBLOCK), 0);
	assert_int_equal(ops->watch(poller, first[0], 1), 0);
	put(first[1]); /* an edge that was not taken */
	ops->forget(poller, first[0]);
	assert_int_equal(dup2(second[0], first[0]), first[0]);
	assert_int_equal(look(), 0);
	assert_int_equal(ops->watch(poller, first[0], 2), 0);
	assert_int_equal(look(), 0);
	put(second[1]);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].token, 2);
	close(first[0]);
	close(first[1]);
	close(second[0]);
	close(second[1]);
}

static void *watch_it(void *arg)
{
	ops->watch(poller, *(int *)arg, 5);
	return NULL;
}

/* When a thread exits the kernel ends the requests that it started. */
static void test_uring_goes_on_when_the_thread_that_watched_has_ended(void **state)
{
	pthread_t thread;
	int i;

	(void)state;
	pthread_create(&thread, NULL, watch_it, &a);
	pthread_join(thread, NULL);
	assert_true(take_all(5));
	for (i = 0; i < 10; i++) {
		char byte;

		put(b);
		assert_int_equal(take_all(5) & POLLIN, POLLIN);
		assert_int_equal(read(a, &byte, 1), 1);
	}
}

static void test_uring_refuses_what_is_always_ready(void **state)
{
	int none = open("/dev/null", O_RDWR), folder = open("/", O_RDONLY), counter = eventfd(0, 0);

	(void)state;
	assert_int_equal(ops->watch(poller, none, 1), -EPERM);
	assert_int_equal(ops->watch(poller, folder, 1), -EPERM);
	assert_int_equal(ops->watch(poller, counter, 1), 0);
	ops->forget(poller, counter);
	close(none);
	close(folder);
	close(counter);
}

static void test_uring_descriptor_is_readable_while_something_is_there(void **state)
{
	struct pollfd p = {.fd = ops->descriptor(poller), .events = POLLIN};

	(void)state;
	assert_int_equal(poll(&p, 1, 0), 0);
	ops->wake(poller);
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_int_equal(look(), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(ops->watch(poller, a, 1), 0);
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_int_equal(look(), 1);
	assert_int_equal(poll(&p, 1, 0), 0);
}

static int open_where_it_is_forbidden(void *arg)
{
	const struct refusal *r = arg;
	struct fib_poller *other = NULL;
	const unsigned before = harness_descriptors();
	int rc;

	if (!harness_forbid(r->call, r->error))
		return 1;
	rc = ops->open(&other);
	if (rc != -(int)r->error || other)
		return 2;
	return harness_descriptors() == before ? 0 : 3;
}

static void test_uring_that_is_forbidden_or_missing_says_so(void **state)
{
	/* A sandbox may also refuse only the use of a ring. */
	struct refusal all[] = {{SYS_io_uring_setup, EPERM},
				{SYS_io_uring_setup, ENOSYS},
				{SYS_io_uring_setup, ENOMEM},
				{SYS_io_uring_enter, EPERM},
				{SYS_io_uring_enter, ENOSYS}};
	struct harness_child child;
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(all); i++) {
		harness_child(open_where_it_is_forbidden, &all[i], 20, &child);
		assert_int_equal(child.signal, 0);
		assert_int_equal(child.code, 0);
	}
}

static void test_uring_watches_as_well_without_fstat(void **state)
{
	(void)state;
	assert_waits_without(SYS_newfstatat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASES,
		CASE(test_uring_tells_the_last_token_only),
		CASE(test_uring_loses_no_edge_when_there_is_no_room_for_it),
		CASE(test_uring_lets_go_of_a_file_that_is_forgotten),
		CASE(test_uring_takes_a_number_that_was_used_again_for_what_it_is_now),
		CASE(test_uring_goes_on_when_the_thread_that_watched_has_ended),
		CASE(test_uring_refuses_what_is_always_ready),
		CASE(test_uring_descriptor_is_readable_while_something_is_there),
		CASE(test_uring_that_is_forbidden_or_missing_says_so),
		CASE(test_uring_watches_as_well_without_fstat),
	};

	struct fib_poller *first;

	if (ops->open(&first) < 0) {
		puts("1..0 # SKIP no io_uring here");
		return 0;
	}
	ops->close(first);
	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
