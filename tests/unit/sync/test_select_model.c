/* SPDX-License-Identifier: MIT */
/*
 * test_select_model.c - two selects, a sender, a clock and a close, in every interleaving
 *
 * One select receives from channel A or B, another sends into A or B, a sender sends into B, and
 * the clock may end some waits. Each select has its own order, and B may be closed. They make the
 * steps of select.c and chan.c. What happens under a channel's lock is one step. The channels have
 * no buffer, so each element must be received at the moment it is sent.
 *
 * No actor is served twice, no actor that timed out was served, and no actor waits in a closed
 * channel. A receiver and a sender never wait for each other for ever. Then each rule is left out,
 * and the model must find the error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

enum { RECEIVER, SENDER, PLAIN, CLOCK, CLOSER, ACTORS };
#define WAITERS	 CLOCK
#define CHANNELS 2u

enum { IDLE, ARMED, WOKEN, TIMED_OUT };

enum { TRY, ARM, JOIN, RETRACT, WAIT, LEAVE, LEFT, RETREAT, DONE };

enum broken {
	NOTHING,
	COPIES_FIRST,	  /* gives to a waiter without claiming its wait first */
	JOINS_BLINDLY,	  /* joins without another look */
	STAYS,		  /* looks again without retracting its wait */
	CLAIMS_EARLY,	  /* claims its partner's wait before its own */
	JOINS_THE_CLOSED, /* joins a closed channel */
	CLOSE_SERVES,	  /* takes the close of a channel for the element it waited for */
};

struct waiter {
	uint8_t at, channel; /* the channel of the next step */
	uint8_t word;
	uint8_t place[CHANNELS]; /* the place in the queue; 1 is the first */
	uint8_t moved;		 /* elements that it has sent or received */
	uint8_t timed_out;	 /* its result was a timeout */
	uint8_t order;		 /* 1: it looks at B first, and joins B first */
	uint8_t epipe;		 /* 1: its wait was ended by the close */
	uint8_t told_closed;
};

struct model {
	struct waiter w[WAITERS];
	uint8_t clocked; /* a bit for each actor whose wait the clock may still end */
	uint8_t closes;	 /* 1: channel B will be closed */
	uint8_t closed;	 /* B is closed; its waiters are dismissed one at a time */
};

static enum broken broken;

static bool wants(unsigned who, unsigned channel)
{
	return who != PLAIN || channel == 1;
}

static bool partners(unsigned a, unsigned b)
{
	return (a == RECEIVER) != (b == RECEIVER);
}

/* Return the longest waiter on the other side of a channel; WAITERS: none. */
static unsigned first_partner(const struct model *m, unsigned who, unsigned channel)
{
	unsigned i, first = WAITERS;

	for (i = 0; i < WAITERS; i++)
		if (partners(who, i) && m->w[i].place[channel] &&
		    (first == WAITERS || m->w[i].place[channel] < m->w[first].place[channel]))
			first = i;
	return first;
}

static void join(struct model *m, unsigned who, unsigned channel)
{
	unsigned i, length = 0;

	for (i = 0; i < WAITERS; i++)
		length += m->w[i].place[channel] != 0;
	m->w[who].place[channel] = (uint8_t)(length + 1);
}

static void unlink_place(struct model *m, unsigned who, unsigned channel)
{
	const uint8_t place = m->w[who].place[channel];
	unsigned i;

	m->w[who].place[channel] = 0;
	for (i = 0; place && i < WAITERS; i++)
		m->w[i].place[channel] -= m->w[i].place[channel] > place;
}

static void begin(struct waiter *w, unsigned at)
{
	w->channel = w->order;
	w->at = (uint8_t)at;
}

static void next_channel(struct waiter *w, unsigned after)
{
	w->channel = !w->channel;
	if (w->channel == w->order)
		w->at = (uint8_t)after;
}

static bool is_closed(const struct model *m, unsigned who, unsigned channel)
{
	return wants(who, channel) && channel == 1 && m->closed;
}

static void step_try(struct model *m, unsigned who)
{
	struct waiter *w = &m->w[who], *other;
	unsigned i;

	if (is_closed(m, who, w->channel)) {
		w->told_closed = 1;
		w->at = DONE;
		return;
	}
	while (wants(who, w->channel) && (i = first_partner(m, who, w->channel)) < WAITERS) {
		other = &m->w[i];
		unlink_place(m, i, w->channel);
		if (other->word != ARMED && broken != COPIES_FIRST)
			continue;
		if (other->word == ARMED)
			other->word = WOKEN;
		other->moved++;
		w->moved++;
		w->at = DONE;
		return;
	}
	next_channel(w, ARM);
}

static void step_join(struct model *m, unsigned who)
{
	struct waiter *w = &m->w[who];
	unsigned i = wants(who, w->channel) ? first_partner(m, who, w->channel) : WAITERS;

	if (i < WAITERS && broken == CLAIMS_EARLY && m->w[i].word == ARMED) {
		/* The partner is woken needlessly if the actor's own wait was decided meanwhile. */
		m->w[i].word = WOKEN;
		unlink_place(m, i, w->channel);
		if (w->word == ARMED) {
			w->word = WOKEN;
			w->moved++;
			m->w[i].moved++;
		}
		begin(w, WAIT);
		return;
	}
	if ((i < WAITERS && broken != JOINS_BLINDLY) ||
	    (is_closed(m, who, w->channel) && broken != JOINS_THE_CLOSED)) {
		begin(w, broken == STAYS ? TRY : RETRACT);
		return;
	}
	if (wants(who, w->channel))
		join(m, who, w->channel);
	next_channel(w, WAIT);
}

/* Close B, then dismiss its waiters, one at a time. Later actors look at the closed channel
 * again. */
static bool step_closer(struct model *m)
{
	unsigned i;

	if (!m->closes)
		return false;
	if (!m->closed) {
		m->closed = 1;
		return true;
	}
	for (i = 0; i < WAITERS; i++) {
		if (!m->w[i].place[1])
			continue;
		unlink_place(m, i, 1);
		if (m->w[i].word == ARMED) {
			m->w[i].word = WOKEN;
			m->w[i].epipe = 1;
		}
		return true;
	}
	m->closes = 0;
	return true;
}

/* The wait is over, and the waiter has left all queues. */
static void leave(struct waiter *w)
{
	if (!w->epipe || broken == CLOSE_SERVES) {
		w->at = DONE;
		return;
	}
	/* The waiter has moved no element, so it looks again. */
	w->epipe = 0;
	w->word = IDLE;
	begin(w, TRY);
}

/* The clock ends one wait, if it is allowed to. */
static bool step_clock(struct model *m)
{
	unsigned i;

	for (i = 0; i < WAITERS; i++) {
		if (m->clocked >> i & 1 && m->w[i].word == ARMED) {
			m->w[i].word = TIMED_OUT;
			m->clocked &= (uint8_t) ~(1u << i);
			return true;
		}
	}
	return false;
}

/* One step of a select or of the sender. */
static bool step_waiter(struct model *m, unsigned who)
{
	struct waiter *w = &m->w[who];

	switch (w->at) {
	case TRY:
		step_try(m, who);
		return true;
	case ARM:
		w->word = ARMED;
		begin(w, JOIN);
		return true;
	case JOIN:
		step_join(m, who);
		return true;
	case RETRACT:
		w->at = w->word == ARMED ? RETREAT : WAIT;
		if (w->word == ARMED)
			w->word = IDLE;
		return true;
	case WAIT:
		if (w->word == ARMED)
			return false;
		w->at = LEAVE;
		return true;
	case LEAVE:
	case RETREAT:
		unlink_place(m, who, w->channel);
		if (w->at == LEAVE)
			w->timed_out = w->word == TIMED_OUT;
		next_channel(w, w->at == LEAVE ? LEFT : TRY);
		if (w->at == LEFT)
			leave(w);
		return true;
	default:
		return false;
	}
}

/* One step of the actor. */
static bool step(void *state, unsigned who)
{
	if (who == CLOCK)
		return step_clock(state);
	if (who == CLOSER)
		return step_closer(state);
	return step_waiter(state, who);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i, waiting = 0, sent = 0;

	for (i = 0; i < WAITERS; i++) {
		if (m->w[i].moved > 1)
			return "somebody is served twice";
		if (m->w[i].at == DONE &&
		    m->w[i].moved + m->w[i].timed_out + m->w[i].told_closed != 1)
			return m->w[i].moved ? "somebody is served and told that he was not"
					     : "somebody is told that he was served and was not";
		if (final && m->closed && m->w[i].at == WAIT && wants(i, 1))
			return "somebody waits in a closed channel";
		if (m->w[i].at == WAIT)
			waiting |= 1u << i;
		sent += i == RECEIVER ? 0 : m->w[i].moved;
	}
	if (sent != m->w[RECEIVER].moved)
		return "an element is lost, or there twice";
	return final && waiting & 1u << RECEIVER && waiting != 1u << RECEIVER
		       ? "a sender and a receiver wait for each other"
		       : NULL;
}

/* The state in which the actors start. */
struct start {
	uint8_t clocked, orders, closes;
};

static void run(enum broken rule, struct start start, struct explore *e)
{
	struct model first = {.clocked = start.clocked, .closes = start.closes};
	unsigned i;

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	first.w[PLAIN].order = 1;
	for (i = 0; i < PLAIN; i++)
		first.w[i].order = start.orders >> i & 1;
	for (i = 0; i < WAITERS; i++)
		first.w[i].channel = first.w[i].order;
	broken = rule;
	explore(e, &first);
}

static void test_select_model_serves_each_once_and_leaves_nobody_waiting(void **state)
{
	struct explore e;
	unsigned i;

	(void)state;
	for (i = 0; i < 1u << 6; i++) {
		run(NOTHING, (struct start){i & 7, i >> 3 & 3, (uint8_t)(i >> 5)}, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		/* The exploration was not trivial: many states, and some of them final. */
		assert_true(e.states > 200);
		assert_true(e.finals > 0);
	}
}

static void goes_wrong(enum broken rule, uint8_t clocked)
{
	struct explore e;

	run(rule, (struct start){clocked, 0, rule >= JOINS_THE_CLOSED}, &e);
	assert_non_null(e.found);
	assert_true(e.way[0]);
}

static void test_select_model_that_copies_before_it_claims_loses_an_element(void **state)
{
	(void)state;
	goes_wrong(COPIES_FIRST, 1u << RECEIVER);
	goes_wrong(COPIES_FIRST, 1u << SENDER);
}

static void test_select_model_that_joins_without_a_look_waits_for_ever(void **state)
{
	(void)state;
	goes_wrong(JOINS_BLINDLY, 0);
}

static void test_select_model_that_keeps_its_wait_is_served_twice(void **state)
{
	(void)state;
	goes_wrong(STAYS, 0);
}

static void test_select_model_that_claims_its_partner_first_wakes_it_for_nothing(void **state)
{
	(void)state;
	goes_wrong(CLAIMS_EARLY, 1u << RECEIVER);
}

static void test_select_model_that_joins_a_closed_channel_waits_for_ever(void **state)
{
	(void)state;
	goes_wrong(JOINS_THE_CLOSED, 0);
}

static void test_select_model_that_takes_the_end_for_an_element_was_not_served(void **state)
{
	(void)state;
	goes_wrong(CLOSE_SERVES, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_model_serves_each_once_and_leaves_nobody_waiting),
		cmocka_unit_test(test_select_model_that_copies_before_it_claims_loses_an_element),
		cmocka_unit_test(test_select_model_that_joins_without_a_look_waits_for_ever),
		cmocka_unit_test(test_select_model_that_keeps_its_wait_is_served_twice),
		cmocka_unit_test(
			test_select_model_that_claims_its_partner_first_wakes_it_for_nothing),
		cmocka_unit_test(test_select_model_that_joins_a_closed_channel_waits_for_ever),
		cmocka_unit_test(
			test_select_model_that_takes_the_end_for_an_element_was_not_served),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
