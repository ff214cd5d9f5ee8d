/* SPDX-License-Identifier: MIT */
/* test_prefetch.c - prefetching what events will touch changes nothing, whatever the events say */
#include "accepted.h"

#include "io/descriptor.h"
#include "poll/poller.h"

static void test_foresee_takes_events_of_nobody(void **state)
{
	struct fib_poll_event events[100];
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		events[i] = (struct fib_poll_event){(uint64_t)i * UINT64_C(0x123456789abcdef),
						    i % 3 ? POLLIN : 0};
	events[5].token = UINT64_MAX;
	events[6].token = INT32_MAX;
	for (i = 0; i <= 100; i++)
		fib_descriptor_prefetch(events, i);
}

static void test_foresee_wakes_nobody_and_loses_nobody(void **state)
{
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};
	struct fib_poll_event events[20];
	struct fiber *fiber;
	int i;

	(void)state;
	drain();
	fiber = inside_spawn(do_read, &r);
	until_it_waits(fiber);
	for (i = 0; i < 20; i++)
		events[i] = (struct fib_poll_event){(uint32_t)server, POLLIN};
	for (i = 0; i < 1000; i++)
		fib_descriptor_prefetch(events, 20);
	assert_int_equal(fiber_state(fiber), FIBER_SUSPENDED);
	assert_int_equal(send(client, "here", 4, 0), 4);
	assert_int_equal(inside_join(fiber), 4);
}

/* Prefetch while the waiters that it reads come and go. */
static void test_foresee_beside_those_who_wait(void **state)
{
	struct reading r = {sizeof r.bytes, 0, ""};
	const struct fib_poll_event events[2] = {{(uint32_t)server, POLLIN},
						 {(uint32_t)server, POLLIN}};
	struct fiber *fiber;
	int i, j;

	(void)state;
	drain();
	for (i = 0; i < 200; i++) {
		r.deadline = fiber_after(MS / 10);
		fiber = inside_spawn(do_read, &r);
		for (j = 0; j < 200; j++)
			fib_descriptor_prefetch(events, 2);
		assert_int_equal(inside_join(fiber), -ETIMEDOUT);
	}
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, connect_both, disconnect_both)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foresee_takes_events_of_nobody),
		EACH(test_foresee_wakes_nobody_and_loses_nobody),
		EACH(test_foresee_beside_those_who_wait),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
