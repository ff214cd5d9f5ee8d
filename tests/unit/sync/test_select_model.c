/* SPDX-License-Identifier: MIT */
/*
 * test_select_model.c - two selects, a sender and the clock, in every interleaving
 *
 * One select would receive from channel A or B, another would send into A or B, a sender sends into B, and
 * the clock may end the wait of whom it may. They make the steps of select.c and chan.c; what
 * happens under a channel's lock is one step. The channels hold nothing, so whatever is sent must at that moment
 * be received. Nobody is served twice, nobody who timed out was served, and a receiver and a sender never
 * wait for each other for good.
 *
 * Then each rule is left out, and the model must find what goes wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

enum { RECEIVER, SENDER, PLAIN, CLOCK, ACTORS };
#define WAITERS	 CLOCK
#define CHANNELS 2u

enum { IDLE, ARMED, WOKEN, TIMED_OUT };

enum { TRY, ARM, JOIN, RETRACT, WAIT, LEAVE, RETREAT, DONE };

enum broken {
	NOTHING,
	COPIES_FIRST,  /* gives to a waiter without winning its wait first */
	JOINS_BLINDLY, /* takes its place without another look */
	STAYS,	       /* looks again without taking back its wait */
	CLAIMS_EARLY,  /* wins its partner's wait before its own */
};

struct waiter {
	uint8_t at, channel; /* the channel of the next step */
	uint8_t word;
	uint8_t place[CHANNELS]; /* linked; the second to come has a bigger number */
	uint8_t moved;		 /* elements sent or received in its name */
	uint8_t timed_out;	 /* what it was told */
};

struct model {
	struct waiter w[WAITERS];
	uint8_t tickets; /* of places, in the order in which they are taken */
	uint8_t clocked; /* a bit for everybody whose wait the clock may still end */
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

/* Who stands longest on the other side of a channel, WAITERS: nobody. */
static unsigned first_partner(const struct model *m, unsigned who, unsigned channel)
{
	unsigned i, first = WAITERS;

	for (i = 0; i < WAITERS; i++)
		if (partners(who, i) && m->w[i].place[channel] &&
		    (first == WAITERS || m->w[i].place[channel] < m->w[first].place[channel]))
			first = i;
	return first;
}

static void next_channel(struct waiter *w, unsigned after)
{
	if (++w->channel < CHANNELS)
		return;
	w->channel = 0;
	w->at = (uint8_t)after;
}

static void step_try(struct model *m, unsigned who)
{
	struct waiter *w = &m->w[who], *other;
	unsigned i;

	while (wants(who, w->channel) && (i = first_partner(m, who, w->channel)) < WAITERS) {
		other = &m->w[i];
		other->place[w->channel] = 0;
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
		/* It is woken for nothing if our own wait was decided meanwhile. */
		m->w[i].word = WOKEN;
		m->w[i].place[w->channel] = 0;
		if (w->word == ARMED) {
			w->word = WOKEN;
			w->moved++;
			m->w[i].moved++;
		}
		w->channel = 0;
		w->at = WAIT;
		return;
	}
	if (i < WAITERS && broken != JOINS_BLINDLY) {
		w->at = broken == STAYS ? TRY : RETRACT;
		w->channel = 0;
		return;
	}
	if (wants(who, w->channel))
		w->place[w->channel] = ++m->tickets;
	next_channel(w, WAIT);
}

/* One step of the actor. */
static bool step(void *state, unsigned who)
{
	struct model *m = state;
	struct waiter *w = &m->w[who];
	unsigned i;

	if (who == CLOCK) {
		for (i = 0; i < WAITERS; i++) {
			if (m->clocked >> i & 1 && m->w[i].word == ARMED) {
				m->w[i].word = TIMED_OUT;
				m->clocked &= (uint8_t) ~(1u << i);
				return true;
			}
		}
		return false;
	}
	switch (w->at) {
	case TRY:
		step_try(m, who);
		return true;
	case ARM:
		w->word = ARMED;
		w->at = JOIN;
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
		w->place[w->channel] = 0;
		if (w->at == LEAVE)
			w->timed_out = w->word == TIMED_OUT;
		next_channel(w, w->at == LEAVE ? DONE : TRY);
		return true;
	default:
		return false;
	}
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i, waiting = 0, sent = 0;

	for (i = 0; i < WAITERS; i++) {
		if (m->w[i].moved > 1)
			return "somebody is served twice";
		if (m->w[i].at == DONE && m->w[i].moved == m->w[i].timed_out)
			return m->w[i].moved ? "somebody is served and told that he was not"
					     : "somebody is told that he was served and was not";
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

static void run(enum broken rule, uint8_t clocked, struct explore *e)
{
	struct model first = {.clocked = clocked};

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	first.w[PLAIN].channel = 1;
	broken = rule;
	explore(e, &first);
}

static void test_select_model_serves_each_once_and_leaves_nobody_waiting(void **state)
{
	struct explore e;
	unsigned clocked;

	(void)state;
	for (clocked = 0; clocked < 1u << WAITERS; clocked++) {
		run(NOTHING, (uint8_t)clocked, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		/* Not vacuous: many ways, that come to an end. */
		assert_true(e.states > 200);
		assert_true(e.finals > 0);
	}
}

static void goes_wrong(enum broken rule, uint8_t clocked)
{
	struct explore e;

	run(rule, clocked, &e);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_model_serves_each_once_and_leaves_nobody_waiting),
		cmocka_unit_test(test_select_model_that_copies_before_it_claims_loses_an_element),
		cmocka_unit_test(test_select_model_that_joins_without_a_look_waits_for_ever),
		cmocka_unit_test(test_select_model_that_keeps_its_wait_is_served_twice),
		cmocka_unit_test(
			test_select_model_that_claims_its_partner_first_wakes_it_for_nothing),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
