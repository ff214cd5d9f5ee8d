/* SPDX-License-Identifier: MIT */
/*
 * test_select_at_once_model.c - selects while an element moves, in every interleaving
 *
 * A mover puts an element into one channel before it takes the element of the other, so one of the
 * two holds an element at every moment. Two selects that may not wait look at the channels in
 * opposite orders, or one that waits joins both queues. The steps are those of select.c and
 * select_at_once.c.
 *
 * Every select finds an element. No select waits for ever, for the other's lock or in both queues.
 * Then each rule is left out, and the model must find the error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

enum { FIRST, SECOND, MOVER, ACTORS };
enum { LOOK, LOCK, LOOK_LOCKED, UNLOCK, JOIN, ASLEEP, FOUND, NOTHING_FOUND };
enum { PUT, TAKE };
#define CHANNELS 2u
#define MOVES	 5u

enum broken {
	NOTHING,
	LOOKS_ONE_BY_ONE, /* trusts looks at one case after another */
	HAND_OVER_HAND,	  /* holds one lock at a time */
	IN_ITS_ORDER,	  /* takes the locks in the order of its cases */
	JOINS_BLINDLY,	  /* joins a queue without looking at the channel */
};

struct select {
	uint8_t at, step, first; /* the step-th channel; the channel it starts with */
	uint8_t waits;		 /* 1: it joins queues, 0: it looks once */
	uint8_t found;
};

struct model {
	struct select s[MOVER];
	uint8_t elem[CHANNELS], lock[CHANNELS], queue[CHANNELS]; /* queue: it has joined */
	uint8_t at, from, moves;				 /* state of the mover */
};

static enum broken broken;

static void next(struct select *s, unsigned after)
{
	if (++s->step < CHANNELS)
		return;
	s->step = 0;
	s->at = (uint8_t)after;
}

static void step_unlock(struct model *m, struct select *s)
{
	m->lock[s->step] = 0;
	next(s, s->found ? FOUND : NOTHING_FOUND);
}

static bool step_lock(struct model *m, struct select *s)
{
	const unsigned c = broken == IN_ITS_ORDER ? s->step ^ s->first : s->step;

	if (m->lock[c])
		return false;
	if (broken == HAND_OVER_HAND) {
		s->found |= m->elem[c];
		next(s, s->found ? FOUND : NOTHING_FOUND);
		return true;
	}
	m->lock[c] = 1;
	next(s, LOOK_LOCKED);
	return true;
}

/* This runs under the channel's lock, which no other actor here holds for longer than a step. */
static void step_join(struct model *m, struct select *s)
{
	const unsigned c = s->step ^ s->first;

	if (s->found || (m->elem[c] && broken != JOINS_BLINDLY)) {
		s->at = FOUND;
		return;
	}
	m->queue[c] = 1;
	next(s, ASLEEP);
}

static bool step_select(struct model *m, struct select *s)
{
	switch (s->at) {
	case LOOK:
		if (m->elem[s->step ^ s->first]) {
			s->at = FOUND;
			return true;
		}
		next(s, s->waits ? JOIN : broken == LOOKS_ONE_BY_ONE ? NOTHING_FOUND : LOCK);
		return true;
	case LOCK:
		return step_lock(m, s);
	case LOOK_LOCKED:
		s->found = m->elem[0] | m->elem[1];
		s->at = UNLOCK;
		return true;
	case UNLOCK:
		step_unlock(m, s);
		return true;
	case JOIN:
		step_join(m, s);
		return true;
	case ASLEEP:
		if (!s->found)
			return false;
		s->at = FOUND;
		return true;
	default:
		return false;
	}
}

/* A waiting select gets the element directly, and the mover is done. */
static bool step_mover(struct model *m)
{
	const unsigned to = !m->from;

	if (!m->moves || m->lock[m->at == PUT ? to : m->from])
		return false;
	if (m->at == PUT && m->queue[to]) {
		m->s[FIRST].found = 1;
		m->moves = 0;
	} else if (m->at == PUT) {
		m->elem[to] = 1;
		m->at = TAKE;
	} else {
		m->elem[m->from] = 0;
		m->from = (uint8_t)to;
		m->at = PUT;
		m->moves--;
	}
	return true;
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;

	return who == MOVER ? step_mover(m) : step_select(m, &m->s[who]);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i;

	for (i = 0; i < MOVER; i++) {
		if (m->s[i].at == NOTHING_FOUND)
			return "nothing is found";
		if (final && m->s[i].at == LOCK)
			return "two wait for each other's locks";
		if (final && m->s[i].at == ASLEEP)
			return "a select sleeps beside an element";
	}
	return NULL;
}

static void run(enum broken rule, bool waits, struct explore *e)
{
	struct model first = {.elem = {1}, .moves = MOVES};

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	first.s[FIRST].waits = waits;
	first.s[FIRST].first = waits;
	first.s[SECOND].first = 1;
	first.s[SECOND].at = waits ? FOUND : LOOK;
	broken = rule;
	explore(e, &first);
}

static void test_select_at_once_model_finds_what_moves(void **state)
{
	struct explore e;
	int waits;

	(void)state;
	for (waits = 0; waits < 2; waits++) {
		run(NOTHING, waits, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		/* The exploration was not trivial: many states, and some of them final. */
		assert_true(e.states > 40);
		assert_true(e.finals > 0);
	}
}

static void goes_wrong(enum broken rule, bool waits, const char *what)
{
	struct explore e;

	run(rule, waits, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
}

static void test_select_at_once_model_that_looks_one_by_one_finds_nothing(void **state)
{
	(void)state;
	goes_wrong(LOOKS_ONE_BY_ONE, false, "nothing is found");
	goes_wrong(HAND_OVER_HAND, false, "nothing is found");
}

static void test_select_at_once_model_that_locks_in_any_order_hangs(void **state)
{
	(void)state;
	goes_wrong(IN_ITS_ORDER, false, "two wait for each other's locks");
}

static void test_select_at_once_model_that_joins_without_a_look_sleeps(void **state)
{
	(void)state;
	goes_wrong(JOINS_BLINDLY, true, "a select sleeps beside an element");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_at_once_model_finds_what_moves),
		cmocka_unit_test(test_select_at_once_model_that_looks_one_by_one_finds_nothing),
		cmocka_unit_test(test_select_at_once_model_that_locks_in_any_order_hangs),
		cmocka_unit_test(test_select_at_once_model_that_joins_without_a_look_sleeps),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
