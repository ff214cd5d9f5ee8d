/* SPDX-License-Identifier: MIT */
/* test_chan_length.c - how many elements a channel holds */
#include "queue.h"

static void *length(void *arg)
{
	return (void *)(intptr_t)fiber_chan_length(arg);
}

static void test_chan_length_is_what_was_sent_and_not_received(void **state)
{
	struct fiber_chan *c, *hand;
	int elem = 7;

	(void)state;
	assert_int_equal(fiber_chan_new(sizeof elem, 3, &c), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(fiber_chan_length(c), i);
		assert_int_equal(fiber_chan_send(c, &elem, 0), 0);
	}
	assert_int_equal(queue_join(queue_spawn(length, c)), 3);
	assert_int_equal(fiber_chan_send(c, &elem, 0), -ETIMEDOUT);
	assert_int_equal(fiber_chan_recv(c, &elem, 0), 0);
	fiber_chan_close(c);
	assert_int_equal(fiber_chan_length(c), 2);
	fiber_chan_recv(c, NULL, 0);
	fiber_chan_recv(c, NULL, 0);
	assert_int_equal(fiber_chan_length(c), 0);
	fiber_chan_unref(c);
	assert_int_equal(fiber_chan_new(sizeof elem, 0, &hand), 0);
	assert_int_equal(fiber_chan_length(hand), 0);
	fiber_chan_unref(hand);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chan_length_is_what_was_sent_and_not_received),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
