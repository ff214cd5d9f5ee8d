/* SPDX-License-Identifier: MIT */
/* test_chan.c - channels and select with many producers and consumers, closed midway */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

/* -- producers and consumers, fibers and threads, with and without deadlines -- */

#define SIDE 6 /* fibers on each side, plus a thread */

struct market {
	struct fiber_chan *chan;
	int rounds;
	bool hurried;	  /* with deadlines about as long as an operation */
	atomic_ulong sum; /* sent minus received; each sent number is different */
	atomic_ulong sent, received;
	atomic_int wrong;
	atomic_ulong next;
	atomic_int done; /* producers */
};

static void *produce(void *arg)
{
	struct market *m = arg;

	for (int i = 0; i < m->rounds; i++) {
		unsigned long value = ++m->next;
		int64_t deadline = m->hurried ? fiber_after(i % 4 * 10000) : FIBER_FOREVER;
		int rc = fiber_chan_send(m->chan, &value, deadline);

		if (rc == 0) {
			m->sent++;
			m->sum += value;
		} else if (rc == -EPIPE) {
			break;
		} else if (rc != -ETIMEDOUT || !m->hurried) {
			m->wrong++;
		}
	}
	m->done++;
	return NULL;
}

static void *consume(void *arg)
{
	struct market *m = arg;
	unsigned long value;

	for (int i = 0;; i++) {
		int64_t deadline = m->hurried ? fiber_after(i % 5 * 10000) : FIBER_FOREVER;
		int rc = fiber_chan_recv(m->chan, &value, deadline);

		if (rc == 0) {
			m->received++;
			m->sum -= value;
		} else if (rc == -EPIPE) {
			return NULL;
		} else if (rc != -ETIMEDOUT || !m->hurried) {
			m->wrong++;
		}
	}
}

/* close_after: close the channel after this many receives, while all use it; 0: after everything
 * was sent. */
static void trade(size_t capacity, bool hurried, unsigned long close_after)
{
	struct fiber_runtime *rt = carriers_start();
	struct market m = {.rounds = (int)carriers_scale(4000), .hurried = hurried};
	struct fiber *producers[SIDE], *consumers[SIDE];
	pthread_t producer, consumer;

	assert_int_equal(fiber_chan_new(sizeof(unsigned long), capacity, &m.chan), 0);
	for (int i = 0; i < SIDE; i++) {
		assert_int_equal(fiber_runtime_spawn(rt, NULL, produce, &m, &producers[i]), 0);
		assert_int_equal(fiber_runtime_spawn(rt, NULL, consume, &m, &consumers[i]), 0);
	}
	assert_int_equal(pthread_create(&producer, NULL, produce, &m), 0);
	assert_int_equal(pthread_create(&consumer, NULL, consume, &m), 0);
	if (close_after) {
		while (m.received < close_after && m.done <= SIDE)
			carriers_pause();
		assert_int_equal(fiber_chan_close(m.chan), 0);
	}
	for (int i = 0; i < SIDE; i++)
		assert_int_equal(fiber_join(producers[i], NULL, FIBER_FOREVER), 0);
	pthread_join(producer, NULL);
	if (!close_after)
		assert_int_equal(fiber_chan_close(m.chan), 0);
	for (int i = 0; i < SIDE; i++)
		assert_int_equal(fiber_join(consumers[i], NULL, FIBER_FOREVER), 0);
	pthread_join(consumer, NULL);
	assert_int_equal(m.wrong, 0);
	assert_int_equal(m.sent, m.received);
	assert_int_equal(m.sum, 0);
	if (!hurried && !close_after)
		assert_int_equal(m.sent, (SIDE + 1) * m.rounds);
	fiber_chan_unref(m.chan);
	carriers_finish(rt);
}

static void test_chan_every_element_sent_is_received_once(void **state)
{
	(void)state;
	trade(0, false, 0);
	trade(1, false, 0);
	trade(64, false, 0);
}

static void test_chan_deadlines_that_race_lose_and_double_nothing(void **state)
{
	(void)state;
	trade(0, true, 0);
	trade(1, true, 0);
	trade(8, true, 0);
}

static void test_chan_closed_in_the_middle_keeps_what_was_sent(void **state)
{
	(void)state;
	trade(0, false, 300);
	trade(16, false, 300);
	trade(1, true, 20);
}

/* -- select: merge several channels until a stop channel -- */

struct merge {
	struct fiber_chan *in[4], *stop;
	int rounds;
	atomic_ulong sent, received;
	atomic_ulong per_input[4];
	atomic_int wrong, which;
};

static void *feed(void *arg)
{
	struct merge *m = arg;
	struct fiber_chan *in = m->in[m->which++];

	for (int i = 1; i <= m->rounds; i++) {
		unsigned long value = (unsigned long)i;

		if (fiber_chan_send(in, &value, FIBER_FOREVER) < 0)
			m->wrong++;
		m->sent += value;
	}
	return NULL;
}

static void *merge_inputs(void *arg)
{
	struct merge *m = arg;
	unsigned long value[4];
	struct fiber_select_case cases[5];

	for (int i = 0; i < 4; i++)
		cases[i] = (struct fiber_select_case){
			.op = FIBER_SELECT_RECV, .chan = m->in[i], .elem = &value[i]};
	cases[4] = (struct fiber_select_case){.op = FIBER_SELECT_RECV, .chan = m->stop};
	for (;;) {
		int i = fiber_select(cases, 5, FIBER_FOREVER);

		if (i == 4 && cases[4].result == -EPIPE)
			return NULL;
		if (i < 0 || i > 3 || cases[i].result) {
			m->wrong++;
			return NULL;
		}
		m->received += value[i];
		m->per_input[i]++;
	}
}

static void test_chan_select_merges_channels_until_it_is_told_to_stop(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct merge m = {.rounds = (int)carriers_scale(3000)};
	struct fiber *feeders[4], *mergers[3];
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(fiber_chan_new(sizeof(long), i == 3 ? 2 : 0, &m.in[i]), 0);
	assert_int_equal(fiber_chan_new(0, 0, &m.stop), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, merge_inputs, &m, &mergers[i]), 0);
	assert_int_equal(pthread_create(&thread, NULL, merge_inputs, &m), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, feed, &m, &feeders[i]), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fiber_join(feeders[i], NULL, FIBER_FOREVER), 0);
	/* Buffered elements must be received before the stop is sent. */
	while (m.received < m.sent)
		carriers_pause();
	assert_int_equal(fiber_chan_close(m.stop), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fiber_join(mergers[i], NULL, FIBER_FOREVER), 0);
	pthread_join(thread, NULL);
	assert_int_equal(m.wrong, 0);
	assert_int_equal(m.received, m.sent);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(m.per_input[i], m.rounds);
		fiber_chan_unref(m.in[i]);
	}
	fiber_chan_unref(m.stop);
	carriers_finish(rt);
}

/* -- a fiber that only answers does not delay the others -- */

struct table {
	struct fiber_chan *ping, *pong;
	int rounds;
	atomic_long turns, others;
	atomic_bool over;
};

static void *answer(void *arg)
{
	struct table *t = arg;
	int value;

	while (fiber_chan_recv(t->ping, &value, FIBER_FOREVER) == 0)
		fiber_chan_send(t->pong, &value, FIBER_FOREVER);
	return NULL;
}

static void *bystand(void *arg)
{
	struct table *t = arg;

	while (!t->over) {
		t->others++;
		fiber_yield();
	}
	return NULL;
}

static void *serve(void *arg)
{
	struct table *t = arg;
	struct fiber *a, *b;
	int value;

	fiber_chan_new(sizeof(int), 0, &t->ping);
	fiber_chan_new(sizeof(int), 0, &t->pong);
	fiber_spawn(answer, t, &a);
	fiber_spawn(bystand, t, &b);
	for (int i = 0; i < t->rounds; i++) {
		fiber_chan_send(t->ping, &i, FIBER_FOREVER);
		if (fiber_chan_recv(t->pong, &value, FIBER_FOREVER) == 0 && value == i)
			t->turns++;
	}
	t->over = true;
	fiber_chan_close(t->ping);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
	fiber_chan_unref(t->ping);
	fiber_chan_unref(t->pong);
	return NULL;
}

static void test_chan_ping_pong_does_not_starve_a_third(void **state)
{
	struct table t = {.rounds = 20000};

	(void)state;
	carriers_run(serve, &t);
	assert_int_equal(t.turns, t.rounds);
	/* At most 64 switches pass without the third fiber, at two or more switches per round. */
	if (carriers() == 1)
		assert_true(t.others >= t.rounds / 64);
}

/* -- cancelled while an element is under way -- */

struct round {
	struct fiber_chan *chan, *other;
	bool selects;
	long got; /* 0: nothing */
	int rc;
};

static void *receive_one(void *arg)
{
	struct round *r = arg;
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV, .chan = r->other},
		{.op = FIBER_SELECT_RECV, .chan = r->chan, .elem = &r->got},
	};

	if (r->selects)
		r->rc = fiber_select(cases, 2, FIBER_FOREVER);
	else
		r->rc = fiber_chan_recv(r->chan, &r->got, FIBER_FOREVER);
	return NULL;
}

static void *cancel_one(void *fiber)
{
	fiber_cancel(fiber);
	return NULL;
}

static void *cancel_and_send(void *arg)
{
	int *wrong = arg;
	const int rounds = (int)carriers_scale(4000);

	for (int i = 1; i <= rounds; i++) {
		struct round r = {.selects = i % 2};
		struct fiber *receiver, *canceller;
		long value = i, left = 0;
		int sent;

		fiber_chan_new(sizeof(long), i / 2 % 2, &r.chan);
		fiber_chan_new(0, 0, &r.other);
		fiber_spawn(receive_one, &r, &receiver);
		fiber_spawn(cancel_one, receiver, &canceller);
		for (int spin = i % 64 * 8; spin; spin--)
			__asm__ volatile("");
		if (i % 3 == 0)
			fiber_yield();
		sent = fiber_chan_send(r.chan, &value, 0);
		fiber_join(canceller, NULL, FIBER_FOREVER);
		fiber_join(receiver, NULL, FIBER_FOREVER);
		fiber_chan_recv(r.chan, &left, 0);
		/* The element was received or is still in the channel; a cancelled receiver has
		 * none. */
		*wrong += r.got + left != (sent == 0 ? i : 0);
		*wrong += (r.rc == -ECANCELED) != (r.got == 0) || (r.rc < 0 && r.rc != -ECANCELED);
		fiber_chan_unref(r.chan);
		fiber_chan_unref(r.other);
	}
	return NULL;
}

static void test_chan_cancelled_receiver_has_the_element_or_the_error(void **state)
{
	int wrong = 0;

	(void)state;
	carriers_run(cancel_and_send, &wrong);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chan_every_element_sent_is_received_once),
		cmocka_unit_test(test_chan_deadlines_that_race_lose_and_double_nothing),
		cmocka_unit_test(test_chan_closed_in_the_middle_keeps_what_was_sent),
		cmocka_unit_test(test_chan_select_merges_channels_until_it_is_told_to_stop),
		cmocka_unit_test(test_chan_cancelled_receiver_has_the_element_or_the_error),
		cmocka_unit_test(test_chan_ping_pong_does_not_starve_a_third),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
