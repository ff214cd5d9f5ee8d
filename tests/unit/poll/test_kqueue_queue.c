/* SPDX-License-Identifier: MIT */
/*
 * test_kqueue_queue.c - the descriptor of a kqueue can be polled, as on FreeBSD
 *
 * That of libkqueue cannot.
 */
#define POLLER	fib_poller_kqueue
#define TOO_FEW 0
#include "cases.h"

static void test_kqueue_descriptor_is_readable_as_long_as_a_wait_would_return(void **state)
{
	struct pollfd p = {.fd = ops->descriptor(poller), .events = POLLIN};

	(void)state;
	assert_int_equal(poll(&p, 1, 0), 0);
	ops->wake(poller);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(look(), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(ops->watch(poller, a, 9), 0);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(look(), 1);
	assert_int_equal(poll(&p, 1, 0), 0);
	/* What a wait leaves for the next one. */
	assert_int_equal(ops->watch(poller, a, 9), 0);
	assert_int_equal(ops->watch(poller, b, 10), 0);
	assert_int_equal(ops->wait(poller, events, 1, 0), 1);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(ops->wait(poller, events, 1, 0), 1);
	assert_int_equal(look(), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASES,
		CASE(test_kqueue_descriptor_is_readable_as_long_as_a_wait_would_return),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
