/* SPDX-License-Identifier: MIT */
/* test_kqueue.c - what every poller promises, and what only kqueue must handle */
#define POLLER	fib_poller_kqueue
#define TOO_FEW 0 /* the queue is the only descriptor */
#include "cases.h"

/* libkqueue keeps the entries of a closed descriptor; the next file may get its number. */
static void test_kqueue_watches_a_file_whose_number_was_closed_without_forgetting(void **state)
{
	const int number = 300;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(dup2(a, number), number);
		assert_int_equal(ops->watch(poller, number, (uint64_t)i), 0);
		assert_int_equal(look(), 1);
		assert_int_equal(events[0].token, i);
		assert_int_equal(events[0].events, POLLOUT);
		put(b);
		assert_int_equal(look(), 1);
		assert_true(events[0].events & POLLIN);
		assert_int_equal(events[0].token, i);
		assert_int_equal(read(number, &(char){0}, 1), 1);
		close(number);
		assert_int_equal(look(), 0);
	}
}

static void test_kqueue_joins_the_two_directions_of_a_descriptor(void **state)
{
	(void)state;
	put(b);
	assert_int_equal(ops->watch(poller, a, 3), 0);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].events, POLLIN | POLLOUT);
	assert_int_equal(ops->watch(poller, b, 4), 0);
	assert_int_equal(ops->watch(poller, a, 5), 0);
	assert_int_equal(look(), 2);
	assert_int_equal(events[0].token + events[1].token, 9);
}

static void test_kqueue_does_not_watch_a_pipe_that_nobody_reads(void **state)
{
	int ends[2], rc;

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	close(ends[0]);
	/* Either the queue refuses it, and the caller tries at once, or it reports the error. */
	rc = ops->watch(poller, ends[1], 1);
	if (rc == 0) {
		assert_int_equal(look(), 1);
		assert_true(events[0].events & POLLERR);
	} else {
		assert_int_equal(rc, -EPERM);
		assert_int_equal(look(), 0);
	}
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASES,
		CASE(test_kqueue_watches_a_file_whose_number_was_closed_without_forgetting),
		CASE(test_kqueue_joins_the_two_directions_of_a_descriptor),
		CASE(test_kqueue_does_not_watch_a_pipe_that_nobody_reads),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
