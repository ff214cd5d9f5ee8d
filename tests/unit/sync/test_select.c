/* SPDX-License-Identifier: MIT */
/* test_select.c - exactly one case is done, ready ones equally often, and no element is lost */
#include "waiting.h"

#define SEND(c, p)                                                             \
	{                                                                      \
		.op = FIBER_SELECT_SEND, .chan = (c), .elem = (p), .result = 1 \
	}
#define RECV(c, p)                                                             \
	{                                                                      \
		.op = FIBER_SELECT_RECV, .chan = (c), .elem = (p), .result = 1 \
	}
#define TIMER(t)                                                 \
	{                                                        \
		.op = FIBER_SELECT_TIMER, .at = (t), .result = 1 \
	}

struct selection {
	struct fiber_select_case *cases;
	size_t n;
	int64_t deadline;
};

static void *selects(void *arg)
{
	struct selection *s = arg;

	return (void *)(intptr_t)fiber_select(s->cases, s->n, s->deadline);
}

/* Wait until the select is in the queues of all its channels, which it joins in any order. */
static void await_joined(const struct fiber_select_case *cases, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		const enum fib_chan_side side =
			cases[i].op == FIBER_SELECT_SEND ? FIB_CHAN_SEND : FIB_CHAN_RECV;
		uint32_t places = 0;

		for (k = 0; k < n; k++)
			places += cases[k].op == cases[i].op && cases[k].chan == cases[i].chan;
		waiting_await(cases[i].chan, side, places);
	}
}

static void test_select_refuses_what_it_cannot_do(void **state)
{
	struct fiber_select_case wrong = {.op = (enum fiber_select_op)77};

	(void)state;
	assert_int_equal(fiber_select(&wrong, 0, FIBER_FOREVER), -EINVAL);
	assert_int_equal(fiber_select(&wrong, 1, FIBER_FOREVER), -EINVAL);
	assert_int_equal(fiber_select(&wrong, (size_t)INT32_MAX + 1, 0), -EINVAL);
}

static void test_select_does_the_one_case_that_is_ready(void **state)
{
	struct fiber_chan *full = waiting_chan(1), *empty = waiting_chan(1);
	int out = 5, in = -1;
	struct fiber_select_case sends[] = {SEND(full, &out), SEND(empty, &out), SEND(NULL, &out)};
	struct fiber_select_case receives[] = {RECV(NULL, &in), RECV(empty, &in)};

	(void)state;
	send_now(full, 1);
	assert_int_equal(fiber_select(receives, 2, 0), -ETIMEDOUT);
	assert_int_equal(receives[1].result, 1);
	assert_int_equal(fiber_select(sends, 3, 0), 1);
	assert_int_equal(sends[1].result, 0);
	assert_int_equal(fiber_select(sends, 3, 0), -ETIMEDOUT);
	assert_int_equal(fiber_select(receives, 2, 0), 1);
	assert_int_equal(in, 5);
	fiber_chan_unref(full);
	fiber_chan_unref(empty);
}

static void test_select_reports_a_closed_channel_as_ready(void **state)
{
	struct fiber_chan *open = waiting_chan(0), *closed = waiting_chan(1);
	int in = -1;
	struct fiber_select_case cases[] = {RECV(open, &in), RECV(closed, &in)};

	(void)state;
	send_now(closed, 4);
	fiber_chan_close(closed);
	assert_int_equal(fiber_select(cases, 2, FIBER_FOREVER), 1);
	assert_int_equal(cases[1].result, 0);
	assert_int_equal(in, 4);
	assert_int_equal(fiber_select(cases, 2, FIBER_FOREVER), 1);
	assert_int_equal(cases[1].result, -EPIPE);
	fiber_chan_unref(open);
	fiber_chan_unref(closed);
}

/* Two of six are ready each time, at any index: neither is preferred. */
static void test_select_takes_each_ready_case_equally_often(void **state)
{
	struct fiber_chan *ready[2] = {waiting_chan(1), waiting_chan(1)}, *never = waiting_chan(0);
	int in, i, fired[6] = {0};
	struct fiber_select_case cases[] = {RECV(ready[0], &in), RECV(ready[1], &in),
					    RECV(never, &in),	 RECV(never, &in),
					    RECV(never, &in),	 TIMER(1)};

	(void)state;
	for (i = 0; i < 6000; i++) {
		send_now(ready[0], 0);
		send_now(ready[1], 0);
		fired[fiber_select(cases, 6, 0)]++;
	}
	/* 2,000 each; a larger deviation comes once in many millions of runs. */
	for (i = 0; i < 6; i++) {
		const int expected = i == 0 || i == 1 || i == 5 ? 2000 : 0;

		assert_in_range(fired[i] + 300, expected, expected + 600);
	}
	for (i = 0; i < 2; i++)
		fiber_chan_unref(ready[i]);
	fiber_chan_unref(never);
}

static void served_while_it_waits(bool from_thread)
{
	struct fiber_chan *c[20];
	struct fiber_select_case cases[20];
	struct selection s = {cases, 20, FIBER_FOREVER};
	int in[20], i, which;

	for (i = 0; i < 20; i++) {
		in[i] = -1;
		c[i] = waiting_chan(0);
		cases[i] = (struct fiber_select_case)RECV(c[i], &in[i]);
	}
	for (which = 0; which < 20; which += 3) {
		struct fiber *f = NULL;
		pthread_t thread;
		void *rc;

		if (from_thread)
			assert_int_equal(pthread_create(&thread, NULL, selects, &s), 0);
		else
			f = queue_spawn(selects, &s);
		await_joined(cases, 20);
		assert_int_equal(send_now(c[which], which), 0);
		if (from_thread) {
			pthread_join(thread, &rc);
			assert_int_equal((intptr_t)rc, which);
		} else {
			assert_int_equal(queue_join(f), which);
		}
		assert_int_equal(in[which], which);
		assert_int_equal(cases[which].result, 0);
		for (i = 0; i < 20; i++)
			assert_int_equal(waiting(c[i], FIB_CHAN_RECV), 0);
	}
	for (i = 0; i < 20; i++) {
		assert_int_equal(in[i], i % 3 ? -1 : i);
		fiber_chan_unref(c[i]);
	}
}

static void test_select_waits_in_all_channels_and_leaves_them(void **state)
{
	(void)state;
	served_while_it_waits(false);
	served_while_it_waits(true);
}

static void test_select_that_waits_hands_over_what_it_sends(void **state)
{
	struct fiber_chan *a = waiting_chan(0), *b = waiting_chan(0);
	int out[2] = {10, 20};
	struct fiber_select_case cases[] = {SEND(a, &out[0]), SEND(b, &out[1])};
	struct selection s = {cases, 2, FIBER_FOREVER};
	struct fiber *f = queue_spawn(selects, &s);

	(void)state;
	await_joined(cases, 2);
	assert_int_equal(recv_now(b), 20);
	/* The select was served once: its offer in the other channel is gone. */
	assert_int_equal(recv_now(a), -ETIMEDOUT);
	assert_int_equal(queue_join(f), 1);
	fiber_chan_unref(a);
	fiber_chan_unref(b);
}

static void test_select_wakes_with_epipe_when_one_is_closed(void **state)
{
	struct fiber_chan *a = waiting_chan(0), *b = waiting_chan(0);
	int value = 0;
	struct fiber_select_case cases[] = {RECV(a, &value), SEND(b, &value)};
	struct selection s = {cases, 2, FIBER_FOREVER};
	struct fiber *f = queue_spawn(selects, &s);

	(void)state;
	await_joined(cases, 2);
	fiber_chan_close(b);
	assert_int_equal(queue_join(f), 1);
	assert_int_equal(cases[1].result, -EPIPE);
	assert_int_equal(cases[0].result, 1);
	fiber_chan_unref(a);
	fiber_chan_unref(b);
}

static void test_select_does_not_send_to_itself(void **state)
{
	struct fiber_chan *c = waiting_chan(0);
	int out = 1, in = -1;
	struct fiber_select_case cases[] = {SEND(c, &out), RECV(c, &in), SEND(c, &out)};
	struct selection s = {cases, 3, FIBER_FOREVER};
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_select(cases, 3, fiber_after(MS)), -ETIMEDOUT);
	f = queue_spawn(selects, &s);
	await_joined(cases, 3);
	assert_int_equal(send_now(c, 9), 0);
	assert_int_equal(queue_join(f), 1);
	assert_int_equal(in, 9);
	assert_int_equal(waiting(c, FIB_CHAN_SEND), 0);
	/* Two selects with such cases find each other. */
	f = queue_spawn(selects, &s);
	await_joined(cases, 3);
	assert_true(fiber_select(cases, 3, FIBER_FOREVER) >= 0);
	assert_true(queue_join(f) >= 0);
	assert_int_equal(waiting(c, FIB_CHAN_SEND), 0);
	assert_int_equal(waiting(c, FIB_CHAN_RECV), 0);
	fiber_chan_unref(c);
}

static void test_select_timer_and_deadline_come_in_their_order(void **state)
{
	struct fiber_chan *c = waiting_chan(0);
	int64_t soon = fiber_after(2 * MS);
	int in;
	struct fiber_select_case cases[] = {TIMER(FIBER_FOREVER), RECV(c, &in), TIMER(soon)};
	struct selection s = {cases, 3, FIBER_FOREVER};

	(void)state;
	assert_int_equal(fiber_select(cases, 3, 0), -ETIMEDOUT);
	assert_int_equal(queue_join(queue_spawn(selects, &s)), 2);
	assert_true(fiber_now() >= soon);
	assert_int_equal(cases[2].result, 0);
	/* Due now, so no wait is needed. */
	assert_int_equal(fiber_select(cases, 3, 0), 2);
	cases[2].at = fiber_after(60000 * MS);
	soon = s.deadline = fiber_after(2 * MS);
	assert_int_equal(queue_join(queue_spawn(selects, &s)), -ETIMEDOUT);
	assert_true(fiber_now() >= soon);
	assert_int_equal(fiber_select(cases, 3, fiber_after(2 * MS)), -ETIMEDOUT);
	assert_int_equal(waiting(c, FIB_CHAN_RECV), 0);
	fiber_chan_unref(c);
}

static void *select_pinned(void *arg)
{
	void *rc;

	fiber_pin();
	rc = selects(arg);
	fiber_unpin();
	return rc;
}

static void test_select_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_chan *a = waiting_chan(0), *b = waiting_chan(0);
	int in = -1;
	struct fiber_select_case cases[] = {RECV(a, &in), RECV(b, &in)};
	struct selection s = {cases, 2, FIBER_FOREVER};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(select_pinned, &s)), -EDEADLK);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(select_pinned, &s);
	await_joined(cases, 2);
	assert_int_equal(send_now(a, 2), 0);
	assert_int_equal(queue_join(f), 0);
	assert_int_equal(in, 2);
	fiber_chan_unref(a);
	fiber_chan_unref(b);
}

#define TURNS 2000

struct race {
	struct fiber_chan *chan[3];
	_Atomic uint64_t sent, got;
	_Atomic unsigned wrong;
};

/*
 * Send or receive, whichever is possible first, with a timer or a deadline of about the time that
 * this takes.
 */
static void *play(void *arg)
{
	struct race *r = arg;
	int i, rc, in[3], out[3];

	for (i = 0; i < TURNS; i++) {
		struct fiber_select_case cases[] = {
			RECV(r->chan[0], &in[0]),	   SEND(r->chan[1], &out[1]),
			RECV(r->chan[2], &in[2]),	   SEND(r->chan[0], &out[0]),
			TIMER(fiber_after(i % 5 * 10000)),
		};

		in[0] = in[2] = -1;
		out[0] = out[1] = i + 1;
		rc = fiber_select(cases, 5, fiber_after(i % 3 * 20000));
		if (rc == 0 || rc == 2)
			fib_add(&r->got, (uint64_t)in[rc]);
		else if (rc == 1 || rc == 3)
			fib_add(&r->sent, (uint64_t)i + 1);
		/* The cases that did not fire are untouched. */
		fib_add(&r->wrong,
			(unsigned)((rc != 0 && in[0] != -1) || (rc != 2 && in[2] != -1)));
	}
	return NULL;
}

static void *supply(void *arg)
{
	struct race *r = arg;
	int i, value;

	for (i = 0; i < TURNS; i++) {
		value = i;
		if (fiber_chan_send(r->chan[2], &value, fiber_after(i % 4 * 10000)) == 0)
			fib_add(&r->sent, (uint64_t)value);
		if (fiber_chan_recv(r->chan[1], &value, fiber_after(i % 4 * 10000)) == 0)
			fib_add(&r->got, (uint64_t)value);
	}
	return NULL;
}

static void test_select_race_of_partners_and_deadlines_loses_nothing(void **state)
{
	uint64_t moved = 0;
	size_t capacity;

	(void)state;
	for (capacity = 0; capacity < 2; capacity++) {
		struct race r = {.chan = {waiting_chan(capacity), waiting_chan(capacity),
					  waiting_chan(capacity)}};
		struct fiber *f[6];
		pthread_t threads[2];
		int i, value;

		for (i = 0; i < 6; i++)
			f[i] = queue_spawn(i < 4 ? play : supply, &r);
		for (i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, i ? play : supply, &r),
					 0);
		for (i = 0; i < 6; i++)
			queue_join(f[i]);
		for (i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		for (i = 0; i < 3; i++) {
			while ((value = recv_now(r.chan[i])) >= 0)
				fib_add(&r.got, (uint64_t)value);
			assert_int_equal(waiting(r.chan[i], FIB_CHAN_SEND), 0);
			assert_int_equal(waiting(r.chan[i], FIB_CHAN_RECV), 0);
			fiber_chan_unref(r.chan[i]);
		}
		assert_int_equal(r.wrong, 0);
		moved += r.got;
		assert_int_equal(r.sent, r.got);
	}
	assert_true(moved > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_refuses_what_it_cannot_do),
		cmocka_unit_test(test_select_does_the_one_case_that_is_ready),
		cmocka_unit_test(test_select_reports_a_closed_channel_as_ready),
		cmocka_unit_test(test_select_takes_each_ready_case_equally_often),
		cmocka_unit_test(test_select_waits_in_all_channels_and_leaves_them),
		cmocka_unit_test(test_select_that_waits_hands_over_what_it_sends),
		cmocka_unit_test(test_select_wakes_with_epipe_when_one_is_closed),
		cmocka_unit_test(test_select_does_not_send_to_itself),
		cmocka_unit_test(test_select_timer_and_deadline_come_in_their_order),
		cmocka_unit_test(test_select_of_a_pinned_fiber_follows_the_policy),
		cmocka_unit_test(test_select_race_of_partners_and_deadlines_loses_nothing),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
