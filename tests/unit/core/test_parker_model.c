/* SPDX-License-Identifier: MIT */
/*
 * test_parker_model.c - which waker wins a wait, in every interleaving
 *
 * A waiter waits twice in a queue, each time with a deadline, and frees its node after the wait. A
 * granter, a timer and a canceller know the waits by their armed words. Each may act late, when the
 * waiter already waits for something else.
 *
 * Every wait is decided once, by one waker, and only that waker makes the waiter run. No waker ends
 * a wait that it does not know, and no waker touches a freed node. The waiter is a fiber, which
 * stays until it is put into a run queue, or a thread, which continues as soon as it sees its word
 * decided. Then each rule is left out, and the model must find the error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

enum { WAITER, GRANTER, TIMER, CANCELLER, ACTORS };
enum { IDLE, ARMED, WOKEN, TIMED_OUT, CANCELLED, CLAIMED };

enum at {
	ARM,
	JOIN,
	SET_TIMER,
	RETRACT, /* cancels the wait itself: no timer could be set */
	WAIT,
	FORGET, /* unlinks its node, under the queue's lock */
	GONE,	/* its frame is freed, and the node in it */
	/* The granter, under the queue's lock up to the claim: */
	FIRST,
	CLAIM,
	WAKE, /* from the list of claimed waiters: reads the node */
	RUN,
	/* The other wakers know only the word: */
	KNOW,
	END,
};

enum broken {
	NOTHING,
	NO_COMPARISON, /* a waker looks at the word, and then stores */
	NO_TICKET,     /* every wait has the same armed word */
	NO_FORGET,     /* a waiter that timed out leaves its node in the queue */
	WOKEN_AT_ONCE, /* a list of waiters to wake is claimed as woken, threads too */
	READS_LATE,    /* the granter reads the node after the claim */
};

struct word {
	uint8_t ticket, outcome;
};

struct model {
	struct word word;
	uint8_t at[ACTORS];
	struct word known[ACTORS]; /* the armed word each waker has */
	uint8_t waits;		   /* waits still to make */
	uint8_t node;		   /* ticket of the wait whose node exists, 0 none */
	uint8_t queued;		   /* ticket of the wait whose node is in the queue */
	uint8_t locked;		   /* the queue's lock, by actor + 1 */
	uint8_t timer;		   /* ticket of the wait that the timer is set for */
	uint8_t decided;	   /* how often the current wait was decided */
	uint8_t runs,
		stray; /* a waker ended a wait that it did not mean; a freed node was touched */
};

static enum broken broken;
static bool thread, list; /* the waiter is a thread; the granter claims a list first */

static bool same(struct word a, struct word b)
{
	return a.ticket == b.ticket && a.outcome == b.outcome;
}

/* fib_parker_claim */
static bool claim(struct model *m, unsigned who, uint8_t outcome, uint8_t meant)
{
	if (!same(m->word, m->known[who]) && broken != NO_COMPARISON)
		return false;
	m->decided++;
	if (m->at[WAITER] == ARM || m->at[WAITER] == END || m->node != meant)
		m->stray = 1;
	m->word.outcome = outcome;
	return true;
}

static bool asleep(struct model *m)
{
	if (thread)
		return m->word.outcome == ARMED || m->word.outcome == CLAIMED;
	if (!m->runs)
		return true;
	m->runs--;
	return false;
}

static bool step_waiter(struct model *m)
{
	uint8_t *at = &m->at[WAITER];

	switch (*at) {
	case ARM:
		m->node++;
		m->word.ticket = broken == NO_TICKET ? 1 : m->node;
		m->word.outcome = ARMED;
		m->decided = 0;
		*at = JOIN;
		return true;
	case JOIN:
		if (m->locked)
			return false;
		m->queued = m->node;
		*at = SET_TIMER;
		return true;
	case SET_TIMER:
		m->timer = m->node;
		*at = m->waits > 1 ? WAIT : RETRACT;
		return true;
	case RETRACT:
		*at = m->word.outcome == ARMED ? FORGET : WAIT;
		if (m->word.outcome == ARMED)
			m->word.outcome = IDLE;
		return true;
	case WAIT:
		if (asleep(m))
			return false;
		m->timer = 0;
		*at = m->word.outcome == WOKEN && !thread ? GONE : FORGET;
		if (broken == NO_FORGET && m->word.outcome != WOKEN)
			*at = GONE;
		return true;
	case FORGET:
		if (m->locked)
			return false;
		m->queued = m->queued == m->node ? 0 : m->queued;
		*at = GONE;
		return true;
	case GONE:
		*at = --m->waits ? ARM : END;
		if (*at == END)
			m->node = 0x7f;
		return true;
	default:
		return false;
	}
}

/* The granter looks at its node. */
static void look_at_node(struct model *m)
{
	const uint8_t ticket = m->known[GRANTER].ticket;

	if (broken != NO_TICKET && (m->node != ticket || m->at[WAITER] == GONE))
		m->stray = 2;
}

static bool step_granter(struct model *m)
{
	uint8_t *at = &m->at[GRANTER];

	switch (*at) {
	case FIRST:
		if (!m->queued)
			return false;
		m->locked = 1;
		if (m->queued != m->node || m->at[WAITER] == GONE)
			m->stray = 2;
		m->known[GRANTER] = (struct word){broken == NO_TICKET ? 1 : m->queued, ARMED};
		m->queued = 0;
		*at = CLAIM;
		return true;
	case CLAIM:
		*at = END;
		if (claim(m, GRANTER, list && thread && broken != WOKEN_AT_ONCE ? CLAIMED : WOKEN,
			  m->node))
			*at = list || broken == READS_LATE ? WAKE : RUN;
		m->locked = 0;
		return true;
	case WAKE:
		look_at_node(m);
		if (thread && m->word.outcome == CLAIMED)
			m->word.outcome = WOKEN;
		*at = RUN;
		return true;
	case RUN:
		m->runs += !thread;
		*at = END;
		return true;
	default:
		return false;
	}
}

/* The actor may learn an armed word at any time, and use that word at any later time. */
static bool step_other(struct model *m, unsigned who)
{
	uint8_t *at = &m->at[who];

	switch (*at) {
	case KNOW:
		if (m->word.outcome != ARMED || (who == TIMER && m->timer != m->node))
			return false;
		m->known[who] = m->word;
		*at = CLAIM;
		return true;
	case CLAIM:
		*at = END;
		if (claim(m, who, who == TIMER ? TIMED_OUT : CANCELLED,
			  broken == NO_TICKET ? 1 : m->known[who].ticket))
			*at = RUN;
		return true;
	case RUN:
		m->runs += !thread;
		*at = END;
		return true;
	default:
		return false;
	}
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;

	if (who == WAITER)
		return step_waiter(m);
	return who == GRANTER ? step_granter(m) : step_other(m, who);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->runs > 1)
		return "the fiber is in two run queues";
	if (m->decided > 1)
		return "a wait was decided twice";
	if (m->stray == 1)
		return "a wait was ended by one who meant another";
	if (m->stray)
		return "a node was touched that has gone";
	if (!final || m->at[WAITER] == END)
		return NULL;
	return m->at[WAITER] == WAIT && m->decided ? "a wait was decided and its waiter sleeps"
						   : NULL;
}

static void run(enum broken rule, unsigned waits, struct explore *e)
{
	struct model first = {.waits = (uint8_t)waits};

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	first.at[WAITER] = ARM;
	first.at[GRANTER] = FIRST;
	first.at[TIMER] = first.at[CANCELLER] = KNOW;
	explore(e, &first);
}

static void test_parker_model_decides_each_wait_once_and_touches_nothing_that_has_gone(void **state)
{
	struct explore e;
	unsigned waits, way;

	(void)state;
	for (way = 0; way < 4; way++) {
		thread = way & 1;
		list = way & 2;
		for (waits = 1; waits <= 3; waits++) {
			run(NOTHING, waits, &e);
			if (e.found)
				print_message("# %s: %s\n", e.found, e.way);
			assert_null(e.found);
			assert_true(e.states > 30 && e.finals > 0);
		}
	}
}

static void goes_wrong(enum broken rule, const char *what)
{
	struct explore e;

	run(rule, 3, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_parker_model_that_stores_without_comparing_decides_twice(void **state)
{
	(void)state;
	thread = list = false;
	goes_wrong(NO_COMPARISON, "a wait was decided twice");
}

static void test_parker_model_without_tickets_ends_a_later_wait(void **state)
{
	(void)state;
	thread = list = false;
	goes_wrong(NO_TICKET, "a wait was ended by one who meant another");
}

static void test_parker_model_that_stays_in_the_queue_is_touched_when_it_has_gone(void **state)
{
	(void)state;
	thread = list = false;
	goes_wrong(NO_FORGET, "a node was touched that has gone");
}

/* This is why FIB_OUTCOME_CLAIMED exists. */
static void test_parker_model_that_wakes_threads_of_a_list_at_once_touches_their_nodes(void **state)
{
	(void)state;
	thread = list = true;
	goes_wrong(WOKEN_AT_ONCE, "a node was touched that has gone");
}

static void test_parker_model_that_reads_after_the_claim_touches_the_node_of_a_thread(void **state)
{
	(void)state;
	thread = true;
	list = false;
	goes_wrong(READS_LATE, "a node was touched that has gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_parker_model_decides_each_wait_once_and_touches_nothing_that_has_gone),
		cmocka_unit_test(test_parker_model_that_stores_without_comparing_decides_twice),
		cmocka_unit_test(test_parker_model_without_tickets_ends_a_later_wait),
		cmocka_unit_test(
			test_parker_model_that_stays_in_the_queue_is_touched_when_it_has_gone),
		cmocka_unit_test(
			test_parker_model_that_wakes_threads_of_a_list_at_once_touches_their_nodes),
		cmocka_unit_test(
			test_parker_model_that_reads_after_the_claim_touches_the_node_of_a_thread),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
