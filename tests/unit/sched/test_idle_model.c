/* SPDX-License-Identifier: MIT */
/*
 * test_idle_model.c - the gap between "I looked everywhere" and "I sleep", in every interleaving
 *
 * Two carriers and a publisher run the steps of idle.c; what happens under idle.lock is one step.
 * An item of work, once taken, keeps its carrier busy for ever, so a carrier that took one cannot
 * repair a missed hand-over later. The model must never come to rest with work queued and a carrier
 * asleep.
 *
 * In some runs the first carrier starts with an idle fiber (idle_fibers.c), which yields without
 * notifying any carrier, and with a fiber bound to that carrier, of which no other carrier was
 * notified either.
 *
 * In some runs only one carrier may be awake (idle.most). Then work may be queued while one carrier
 * is busy and the other sleeps, but not while both sleep.
 *
 * Then each rule is left out, and the model must find the lost wake-up. Publishing after reading
 * the word, and looking before leaving the searchers' count, are also what a missing fence would
 * allow.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "explore.h"
#include "tests/harness/watchdog.h"

#define CARRIERS  2u
#define PUBLISHER CARRIERS
#define NOBODY	  CARRIERS

enum { AWAKE, IN_FUTEX, NOTIFIED };

enum at {
	LOOK, /* find(): take from the queue */
	SEARCH,
	LOOK_AGAIN, /* search() */
	LIE_DOWN,
	LAST_LOOK,
	BLOCK,
	BLOCKED,
	STIR,
	GET_UP,
	FOUND,
	HAND_ON, /* the last searcher looks for more work */
	TELL,	 /* a carrier that took work looks for a waiting idle fiber */
	NOTIFY_READ,
	NOTIFY_PICK,
	NOTIFY_WAKE,
	DONE, /* busy, or nothing left to publish */
	PUBLISH,
};

enum broken {
	NOTHING,
	NO_LAST_LOOK, /* sleeps without looking once more */
	ALL_SPARE,    /* each trusts that the others stay awake, and counts itself among them */
	LOOKS_FIRST,  /* takes the last look before it announces its sleep */
	READS_FIRST,  /* the publisher reads the word before its work is visible */
	NO_SUCCESSOR, /* the last searcher wakes no successor */
	LEAVES_LAST,  /* looks for more work, then leaves the searchers' count */
	BOTH_TRUST,   /* looks for other searchers first, then leaves their count */
	TELLS_NOBODY, /* does not notify others of an idle fiber that was queued meanwhile */
};

struct actor {
	uint8_t at, searching, listed, how, picked, saw;
	uint8_t idle; /* runs an idle fiber */
	uint8_t last; /* no other carrier searched when it lay down, and it was not spare */
	uint8_t asked;
};

struct model {
	uint8_t work, searching, sleeping, left; /* left: items still to publish */
	uint8_t spare, bound, yields;		 /* idle fibers; bound to carrier 0; yields left */
	uint8_t order[CARRIERS];		 /* sleeping carriers, the latest first; 0: none */
	struct actor actor[CARRIERS + 1];
};

static enum broken broken;
static unsigned most; /* how many carriers may be awake */

/* full() */
static bool full(const struct model *m, unsigned besides)
{
	return CARRIERS - m->sleeping >= most + besides;
}

static void unlist(struct model *m, unsigned c)
{
	unsigned i = m->order[0] == c + 1 ? 0 : 1;

	m->actor[c].listed = 0;
	m->order[i] = i ? 0 : m->order[1];
	m->order[1] = 0;
	m->sleeping--;
	m->searching++;
}

/* all: take idle fibers too. */
static bool take(struct model *m, unsigned c, bool all)
{
	if (m->work) {
		m->work--;
	} else if (c == 0 && m->bound) {
		m->bound--;
	} else if (all && m->spare) {
		m->spare--;
		m->actor[c].idle = 1;
	} else {
		return false;
	}
	return true;
}

/* own_work_visible() of carrier c, without its own queues, which are empty. */
static bool own_visible(const struct model *m, unsigned c)
{
	return m->spare || (c == 0 && m->bound);
}

/* fib_work_visible(), as carrier c sees it. */
static bool visible(const struct model *m, unsigned c)
{
	return m->work || m->spare || (c == 0 && m->bound);
}

static void after_notify(struct model *m, unsigned who)
{
	struct actor *a = &m->actor[who];

	if (who != PUBLISHER)
		a->at = DONE;
	else if (broken == READS_FIRST)
		a->at = PUBLISH;
	else
		a->at = m->left ? PUBLISH : DONE;
}

static void step_notify(struct model *m, unsigned who)
{
	struct actor *a = &m->actor[who];

	switch (a->at) {
	case NOTIFY_READ:
		a->at = NOTIFY_PICK;
		if (m->searching || full(m, 0))
			after_notify(m, who);
		return;
	case NOTIFY_PICK:
		if (m->searching || full(m, 0)) {
			after_notify(m, who);
			return;
		}
		a->picked = (uint8_t)(m->order[0] - 1);
		unlist(m, a->picked);
		a->at = NOTIFY_WAKE;
		return;
	default:
		m->actor[a->picked].how = NOTIFIED;
		a->picked = 0;
		after_notify(m, who);
	}
}

static void publish(struct model *m, struct actor *a)
{
	m->work++;
	m->left--;
	a->at = NOTIFY_READ;
	if (broken == READS_FIRST && !m->left)
		a->at = DONE;
}

/* The steps from "I looked everywhere" to being awake again. False: the carrier sleeps. */
static bool step_sleep(struct model *m, unsigned c)
{
	struct actor *a = &m->actor[c];

	switch (a->at) {
	case LIE_DOWN:
		if (broken == LOOKS_FIRST && !a->saw) {
			a->saw = 1 + visible(m, c);
			return true;
		}
		if (broken != BOTH_TRUST || !a->asked) {
			a->last = m->searching == 1 && !full(m, broken != ALL_SPARE);
			a->asked = 1;
		}
		if (broken == BOTH_TRUST && a->asked == 1) {
			a->asked = 2;
			return true;
		}
		a->asked = 0;
		m->order[1] = m->order[0];
		m->order[0] = (uint8_t)(c + 1);
		a->listed = 1;
		a->searching = 0;
		m->searching--;
		m->sleeping++;
		a->at = LAST_LOOK;
		if (broken == NO_LAST_LOOK || a->saw)
			a->at = a->saw == 2 ? GET_UP : BLOCK;
		a->saw = 0;
		return true;
	case LAST_LOOK:
		a->at = (a->last ? visible(m, c) : own_visible(m, c)) ? GET_UP : BLOCK;
		return true;
	case BLOCK:
		a->at = STIR;
		if (a->how == AWAKE) {
			a->how = IN_FUTEX;
			a->at = BLOCKED;
		}
		return true;
	case BLOCKED:
		if (a->how == IN_FUTEX)
			return false;
		a->at = STIR;
		return true;
	case STIR:
		a->how = AWAKE;
		a->at = GET_UP;
		return true;
	default: /* GET_UP */
		if (a->listed)
			unlist(m, c);
		a->searching = 1;
		a->at = LOOK;
		return true;
	}
}

static void step_found(struct model *m, struct actor *a)
{
	const bool last = m->searching == 1;

	if (a->at == HAND_ON) {
		a->at = visible(m, NOBODY) ? NOTIFY_READ : DONE;
		return;
	}
	if (a->at == TELL) {
		a->at = m->spare ? NOTIFY_READ : DONE;
		return;
	}
	if (broken == LEAVES_LAST && !a->saw) {
		a->saw = 1 + visible(m, NOBODY);
		return;
	}
	a->at = broken == TELLS_NOBODY ? DONE : TELL;
	if (a->searching) {
		a->searching = 0;
		m->searching--;
		if (last && broken == LEAVES_LAST)
			a->at = a->saw == 2 ? NOTIFY_READ : DONE;
		else if (last && broken != NO_SUCCESSOR)
			a->at = HAND_ON;
	}
	a->saw = 0;
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;
	struct actor *a = &m->actor[who];

	switch (a->at) {
	case LOOK:
		a->at = take(m, who, false) ? FOUND : SEARCH;
		return true;
	case SEARCH:
		if (!a->searching)
			m->searching++;
		a->searching = 1;
		a->at = full(m, 1) ? LIE_DOWN : LOOK_AGAIN;
		return true;
	case LOOK_AGAIN:
		a->at = take(m, who, true) ? FOUND : LIE_DOWN;
		return true;
	case FOUND:
	case HAND_ON:
	case TELL:
		step_found(m, a);
		return true;
	case NOTIFY_READ:
	case NOTIFY_PICK:
	case NOTIFY_WAKE:
		step_notify(m, who);
		return true;
	case PUBLISH:
		publish(m, a);
		return true;
	case DONE:
		if (!a->idle || !m->yields)
			return false;
		m->yields--;
		m->spare++;
		a->idle = 0;
		a->at = LOOK;
		return true;
	default:
		return step_sleep(m, who);
	}
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->searching > CARRIERS || m->sleeping > CARRIERS)
		return "the word counts somebody twice";
	if (final && m->actor[0].listed && m->bound)
		return "work is queued for a carrier that sleeps";
	return final && visible(m, NOBODY) && !full(m, 0)
		       ? "work is queued and a carrier sleeps that may be awake"
		       : NULL;
}

/* awake: `most`. yields: made by the idle fiber on the first carrier; 0: no idle fiber. */
static void run(enum broken rule, unsigned awake, unsigned items, unsigned yields,
		struct explore *e)
{
	struct model first = {0};
	unsigned c;

	*e = (struct explore){sizeof first, CARRIERS + 1, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	most = awake;
	first.left = (uint8_t)items;
	first.searching = CARRIERS;
	for (c = 0; c < CARRIERS; c++)
		first.actor[c].searching = 1;
	if (yields) {
		first.searching--;
		first.actor[0] = (struct actor){.at = DONE, .idle = 1};
		first.bound = 1;
		first.yields = (uint8_t)yields;
	}
	first.actor[PUBLISHER].at = !items ? DONE : rule == READS_FIRST ? NOTIFY_READ : PUBLISH;
	explore(e, &first);
}

static void test_idle_model_never_rests_with_work_and_a_sleeper(void **state)
{
	struct explore e;
	unsigned i;

	(void)state;
	for (i = 0; i < 8; i++) {
		run(NOTHING, 1 + i / 4, 1 + i % 4, 0, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		/* The exploration was not trivial: many states, and some of them final. */
		assert_true(e.states > 100);
		assert_true(e.finals > 0);
	}
}

static void test_idle_model_never_rests_with_an_idle_fiber_and_a_sleeper(void **state)
{
	struct explore e;
	unsigned i, yields;

	(void)state;
	for (yields = 1; yields <= 3; yields++)
		for (i = 0; i < 8; i++) {
			run(NOTHING, 1 + i / 4, i % 4, yields, &e);
			if (e.found)
				print_message("# %s: %s\n", e.found, e.way);
			assert_null(e.found);
			assert_true(e.states > 20);
			assert_true(e.finals > 0);
		}
}

static void loses_a_wake_up_of(enum broken rule, unsigned awake, unsigned items, unsigned yields)
{
	struct explore e;

	run(rule, awake, items, yields, &e);
	assert_non_null(e.found);
	assert_true(e.way[0]);
}

static void loses_a_wake_up(enum broken rule, unsigned items, unsigned yields)
{
	loses_a_wake_up_of(rule, CARRIERS, items, yields);
}

static void test_idle_model_without_the_last_look_loses_a_wake_up(void **state)
{
	(void)state;
	loses_a_wake_up(NO_LAST_LOOK, 1, 0);
	loses_a_wake_up(LOOKS_FIRST, 1, 0);
}

static void test_idle_model_with_the_word_read_too_early_loses_a_wake_up(void **state)
{
	(void)state;
	loses_a_wake_up(READS_FIRST, 1, 0);
}

static void test_idle_model_without_a_successor_loses_a_wake_up(void **state)
{
	(void)state;
	loses_a_wake_up(NO_SUCCESSOR, 2, 0);
}

static void test_idle_model_with_a_look_before_the_count_loses_a_wake_up(void **state)
{
	(void)state;
	loses_a_wake_up(LEAVES_LAST, 2, 0);
}

static void test_idle_model_with_searchers_that_trust_each_other_loses_a_wake_up(void **state)
{
	(void)state;
	loses_a_wake_up(BOTH_TRUST, 1, 0);
}

static void test_idle_model_where_the_last_one_awake_thinks_itself_spare_loses_a_wake_up(
	void **state)
{
	(void)state;
	loses_a_wake_up_of(ALL_SPARE, 1, 1, 0);
}

static void test_idle_model_with_nobody_told_of_an_idle_fiber_leaves_it_waiting(void **state)
{
	(void)state;
	loses_a_wake_up(TELLS_NOBODY, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_model_never_rests_with_work_and_a_sleeper),
		cmocka_unit_test(test_idle_model_never_rests_with_an_idle_fiber_and_a_sleeper),
		cmocka_unit_test(test_idle_model_without_the_last_look_loses_a_wake_up),
		cmocka_unit_test(test_idle_model_with_the_word_read_too_early_loses_a_wake_up),
		cmocka_unit_test(test_idle_model_without_a_successor_loses_a_wake_up),
		cmocka_unit_test(test_idle_model_with_a_look_before_the_count_loses_a_wake_up),
		cmocka_unit_test(
			test_idle_model_with_searchers_that_trust_each_other_loses_a_wake_up),
		cmocka_unit_test(
			test_idle_model_where_the_last_one_awake_thinks_itself_spare_loses_a_wake_up),
		cmocka_unit_test(
			test_idle_model_with_nobody_told_of_an_idle_fiber_leaves_it_waiting),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
