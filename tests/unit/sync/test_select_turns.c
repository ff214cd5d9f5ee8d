/* SPDX-License-Identifier: MIT */
/*
 * test_select_turns.c - a select that waits is as likely to end in one case as in another
 *
 * One fiber selects. Another fiber does what ends the wait only when the select is in the queues of
 * all its cases, so no round is decided by the first look. All run on one carrier.
 *
 * Of n rounds each of k cases fires n/k times; the standard deviation is sqrt(n * (k - 1)) / k. The
 * test allows six deviations: one run in 500 million is further away.
 */
#include "waiting.h"

#include <string.h>

#define ROUNDS 4000
#define MOST   6

/* The cases of a select, one letter each. "s" and "r" send into and receive from the tested
 * channel; "S" and "R" use another one, which has no partner; "T" is a distant timer; "0" is
 * switched off. */
struct party {
	const char *cases;
	struct fiber_chan *chan, *lonely, *closed;
	int rounds;
	void (*partner)(struct party *p); /* ends a wait; NULL: timers end it */
	int64_t at;
	int fired[MOST];
	int wrong, value;
};

static uint32_t count_of(const struct party *p, char which)
{
	uint32_t n = 0;
	const char *c;

	for (c = p->cases; *c; c++)
		n += *c == which;
	return n;
}

static struct fiber_select_case case_of(struct party *p, char which)
{
	struct fiber_select_case c = {.elem = &p->value, .result = 1};

	switch (which) {
	case 's':
	case 'S':
		c.op = FIBER_SELECT_SEND;
		break;
	case 'T':
		c.op = FIBER_SELECT_TIMER;
		c.at = p->at;
		break;
	default:
		c.op = FIBER_SELECT_RECV;
	}
	if (which != '0')
		c.chan = which == 's' || which == 'r' ? p->chan : p->lonely;
	return c;
}

static void select_once(struct party *p)
{
	struct fiber_select_case cases[MOST];
	int i, n = (int)strlen(p->cases), rc;

	p->at = fiber_after(p->partner ? 100000 * MS : MS / 2);
	for (i = 0; i < n; i++)
		cases[i] = case_of(p, p->cases[i]);
	rc = fiber_select(cases, (size_t)n, FIBER_FOREVER);
	if (rc < 0) {
		p->wrong++;
		return;
	}
	p->fired[rc]++;
	/* The cases that did not fire are untouched. */
	for (i = 0; i < n; i++)
		p->wrong += i == rc ? cases[i].result > 0 : cases[i].result != 1;
}

static void *selects_often(void *arg)
{
	struct party *p = arg;
	int i;

	for (i = 0; i < p->rounds; i++)
		select_once(p);
	return NULL;
}

static void serve(struct party *p)
{
	const int rc = count_of(p, 'r') ? send_now(p->chan, 1) : recv_now(p->chan);

	p->wrong += rc < 0;
}

/* Close the channel; the next round uses a new one. */
static void close_it(struct party *p)
{
	fiber_chan_unref(p->closed);
	p->closed = p->chan;
	p->chan = waiting_chan(0);
	fiber_chan_close(p->closed);
}

static void *plays(void *arg)
{
	struct party *p = arg;
	struct fiber *fiber;
	int i;

	fiber_spawn(selects_often, p, &fiber);
	for (i = 0; p->partner && i < p->rounds; i++) {
		waiting_await(p->chan, FIB_CHAN_RECV, count_of(p, 'r'));
		waiting_await(p->chan, FIB_CHAN_SEND, count_of(p, 's'));
		p->partner(p);
	}
	fiber_join(fiber, NULL, FIBER_FOREVER);
	return NULL;
}

/* Check that the letters of `ready` fired equally often, and no other letter fired. */
static void assert_fair(const struct party *p, const char *ready)
{
	int64_t n = p->rounds, k = 0, off;
	int i;

	for (i = 0; p->cases[i]; i++)
		k += strchr(ready, p->cases[i]) != NULL;
	for (i = 0; p->cases[i]; i++) {
		if (!strchr(ready, p->cases[i])) {
			assert_int_equal(p->fired[i], 0);
			continue;
		}
		off = p->fired[i] * k - n;
		if (off * off > 6 * 6 * n * (k - 1))
			fail_msg("\"%s\": case %d of %d equal ones fired %d times in %d rounds",
				 p->cases, i, (int)k, p->fired[i], p->rounds);
	}
}

static void fair_among(const char *cases, const char *ready, int rounds,
		       void (*partner)(struct party *p))
{
	const struct fiber_runtime_options one = {
		.size = sizeof one, .carriers = 1, .control_path = ""};
	struct party p = {.cases = cases, .rounds = rounds, .partner = partner};

	p.chan = waiting_chan(0);
	p.lonely = waiting_chan(0);
	assert_int_equal(fiber_run(plays, &p, &one, NULL), 0);
	assert_int_equal(p.wrong, 0);
	assert_fair(&p, ready);
	fiber_chan_unref(p.chan);
	fiber_chan_unref(p.lonely);
	fiber_chan_unref(p.closed);
}

static void test_select_that_waits_is_fair_among_receives_from_one_channel(void **state)
{
	(void)state;
	fair_among("rr", "r", ROUNDS, serve);
	fair_among("rrr", "r", ROUNDS, serve);
	fair_among("rRrS", "r", ROUNDS, serve);
	fair_among("0Tr0rR", "r", ROUNDS, serve);
}

static void test_select_that_waits_is_fair_among_sends_into_one_channel(void **state)
{
	(void)state;
	fair_among("ss", "s", ROUNDS, serve);
	fair_among("sss", "s", ROUNDS, serve);
	fair_among("sSsR", "s", ROUNDS, serve);
	fair_among("T0s0Ss", "s", ROUNDS, serve);
}

/* Both sides of a closed channel are ready. */
static void test_select_that_waits_is_fair_among_the_sides_of_a_channel_that_is_closed(void **state)
{
	(void)state;
	fair_among("sr", "sr", ROUNDS, close_it);
	fair_among("rRsr", "sr", ROUNDS, close_it);
}

static void test_select_that_waits_is_fair_among_timers_of_one_time(void **state)
{
	(void)state;
	fair_among("TRT", "T", 400, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_that_waits_is_fair_among_receives_from_one_channel),
		cmocka_unit_test(test_select_that_waits_is_fair_among_sends_into_one_channel),
		cmocka_unit_test(
			test_select_that_waits_is_fair_among_the_sides_of_a_channel_that_is_closed),
		cmocka_unit_test(test_select_that_waits_is_fair_among_timers_of_one_time),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
