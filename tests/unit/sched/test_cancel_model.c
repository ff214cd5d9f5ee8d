/* SPDX-License-Identifier: MIT */
/*
 * test_cancel_model.c - the gap between reading the flag and being armed, in every interleaving
 *
 * A fiber waits twice for units of a semaphore, somebody posts, somebody cancels the fiber; the steps are
 * those of wait.c, sem.c and cancel.c, and what happens under a queue's lock is one step. In the end the
 * cancelled fiber must not sleep, must have been made to run exactly as often as it left, and every
 * unit must be in its hands or in the count.
 *
 * Then each rule is left out, and the model must find what goes wrong. The second look taken before arming,
 * and the word read before the flag is up, are also what a missing fence would allow; that who cancels can fence
 * for the waiters, too, is shown in test_fence_model.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "explore.h"
#include "tests/harness/watchdog.h"

enum { WAITER, CANCELLER, POSTER, ACTORS };
enum { IDLE, ARMED, WOKEN, CANCELLED };

enum at {
	BEGIN,
	ARM,
	JOIN,  /* take a unit, or stand in the queue */
	ABORT, /* a unit was there: take the wait back */
	ABORTED,
	LOOK,
	RETRACT,
	ASLEEP,
	FORGET, /* leave the queue */
	RAISE,
	READ,
	CLAIM,
	READY,
	POST,
	END,
};

enum broken {
	NOTHING,
	NO_SECOND_LOOK, /* reads the flag before it is armed only */
	LOOKS_FIRST,	/* takes the second look before it is armed */
	READS_FIRST,	/* the canceller reads the word before its flag is up */
	NO_COMPARISON,	/* the canceller decides a wait that somebody else may have decided */
	NO_RETREAT,	/* whoever sees the flag leaves without taking the wait back */
	SURE_ABORT,	/* whoever found a unit takes it for granted that nobody claimed him */
};

struct model {
	uint8_t flag, ticket, outcome, queued, units;
	uint8_t runs; /* how often the fiber was put into a run queue and not taken out */
	uint8_t at[ACTORS];
	uint8_t rounds, got, posts, saw;
	uint8_t seen_ticket, seen_outcome, looks;
};

static enum broken broken;

static uint8_t next(const struct model *m)
{
	return m->rounds ? BEGIN : END;
}

static void leave(struct model *m)
{
	if (m->outcome == WOKEN) {
		m->got++;
		m->at[WAITER] = next(m);
	} else {
		m->at[WAITER] = FORGET;
	}
}

static void look(struct model *m)
{
	if (!m->flag)
		m->at[WAITER] = ASLEEP;
	else
		m->at[WAITER] = broken == NO_RETREAT ? FORGET : RETRACT;
}

static bool step_waiter(struct model *m)
{
	switch (m->at[WAITER]) {
	case BEGIN:
		m->at[WAITER] = m->flag ? END : ARM;
		return true;
	case ARM:
		if (broken == LOOKS_FIRST && !m->saw) {
			m->saw = 1 + m->flag;
			return true;
		}
		m->rounds--;
		m->ticket++;
		m->outcome = ARMED;
		m->at[WAITER] = JOIN;
		return true;
	case JOIN:
		if (m->units) {
			m->units--;
			m->got++;
			m->at[WAITER] = ABORT;
			m->saw = 0;
			return true;
		}
		m->queued = 1;
		m->at[WAITER] = LOOK;
		if (broken == NO_SECOND_LOOK || m->saw)
			m->at[WAITER] = m->saw == 2 ? RETRACT : ASLEEP;
		m->saw = 0;
		return true;
	case ABORT:
		m->at[WAITER] = m->outcome == ARMED || broken == SURE_ABORT ? next(m) : ABORTED;
		m->outcome = IDLE;
		return true;
	case ABORTED:
		if (!m->runs)
			return false;
		m->runs--;
		m->at[WAITER] = next(m);
		return true;
	case LOOK:
		look(m);
		return true;
	case RETRACT:
		m->at[WAITER] = m->outcome == ARMED ? FORGET : ASLEEP;
		if (m->outcome == ARMED)
			m->outcome = IDLE;
		return true;
	case ASLEEP:
		if (!m->runs)
			return false;
		m->runs--;
		leave(m);
		return true;
	case FORGET:
		m->queued = 0;
		m->at[WAITER] = END;
		return true;
	default:
		return false;
	}
}

static bool step_canceller(struct model *m)
{
	uint8_t *at = &m->at[CANCELLER];

	switch (*at) {
	case RAISE:
		m->flag = 1;
		*at = broken == READS_FIRST ? CLAIM : READ;
		break;
	case READ:
		m->seen_ticket = m->ticket;
		m->seen_outcome = m->outcome;
		*at = broken == READS_FIRST ? RAISE : CLAIM;
		break;
	case CLAIM:
		/* Who sees nothing armed looks again, behind a fence of everybody's. */
		*at = m->looks++ || broken == READS_FIRST ? END : READ;
		if (m->seen_outcome != ARMED)
			break;
		if (broken != NO_COMPARISON && (m->ticket != m->seen_ticket || m->outcome != ARMED))
			break;
		m->outcome = CANCELLED;
		*at = READY;
		break;
	case READY:
		m->runs++;
		*at = END;
		break;
	default:
		return false;
	}
	return true;
}

static bool step_poster(struct model *m)
{
	uint8_t *at = &m->at[POSTER];

	if (*at == END)
		return false;
	if (*at == READY) {
		m->runs++;
		*at = m->posts ? POST : END;
		return true;
	}
	m->posts--;
	*at = m->posts ? POST : END;
	if (m->queued && m->outcome == ARMED) {
		m->outcome = WOKEN;
		*at = READY;
	} else {
		m->units++;
	}
	m->queued = 0;
	return true;
}

static bool step(void *state, unsigned who)
{
	switch (who) {
	case WAITER:
		return step_waiter(state);
	case CANCELLER:
		return step_canceller(state);
	default:
		return step_poster(state);
	}
}

static unsigned first_posts;

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->runs > 1)
		return "the fiber is in two run queues";
	if (!final)
		return NULL;
	if (m->at[WAITER] != END)
		return "a cancelled fiber sleeps";
	if (m->runs)
		return "a fiber that does not sleep is in a run queue";
	if (m->queued)
		return "whoever has gone stands in the queue";
	return m->got + m->units != first_posts ? "a unit is lost" : NULL;
}

static void run(enum broken rule, unsigned posts, struct explore *e)
{
	struct model first = {0};

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	first_posts = posts;
	first.rounds = 2;
	first.posts = (uint8_t)posts;
	first.at[WAITER] = BEGIN;
	first.at[CANCELLER] = rule == READS_FIRST ? READ : RAISE;
	first.at[POSTER] = posts ? POST : END;
	explore(e, &first);
}

static void test_cancel_model_never_leaves_a_cancelled_fiber_asleep_or_loses_a_unit(void **state)
{
	struct explore e;
	unsigned posts;

	(void)state;
	for (posts = 0; posts <= 3; posts++) {
		run(NOTHING, posts, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		/* Not vacuous: many ways, that come to an end. */
		assert_true(e.states > 15 * (posts + 1));
		assert_true(e.finals > 0);
	}
}

static void goes_wrong(enum broken rule, unsigned posts, const char *what)
{
	struct explore e;

	run(rule, posts, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_cancel_model_without_the_second_look_leaves_a_fiber_asleep(void **state)
{
	(void)state;
	goes_wrong(NO_SECOND_LOOK, 0, "a cancelled fiber sleeps");
	goes_wrong(LOOKS_FIRST, 0, "a cancelled fiber sleeps");
}

static void test_cancel_model_with_the_word_read_too_early_leaves_a_fiber_asleep(void **state)
{
	(void)state;
	goes_wrong(READS_FIRST, 0, "a cancelled fiber sleeps");
}

static void test_cancel_model_that_decides_without_comparing_runs_a_fiber_twice(void **state)
{
	(void)state;
	goes_wrong(NO_COMPARISON, 1, "the fiber is in two run queues");
}

static void test_cancel_model_that_leaves_without_retreat_is_made_to_run_later(void **state)
{
	(void)state;
	goes_wrong(NO_RETREAT, 0, "a fiber that does not sleep is in a run queue");
}

static void test_cancel_model_that_aborts_for_sure_is_made_to_run_later(void **state)
{
	(void)state;
	goes_wrong(SURE_ABORT, 1, "a fiber that does not sleep is in a run queue");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_cancel_model_never_leaves_a_cancelled_fiber_asleep_or_loses_a_unit),
		cmocka_unit_test(test_cancel_model_without_the_second_look_leaves_a_fiber_asleep),
		cmocka_unit_test(
			test_cancel_model_with_the_word_read_too_early_leaves_a_fiber_asleep),
		cmocka_unit_test(
			test_cancel_model_that_decides_without_comparing_runs_a_fiber_twice),
		cmocka_unit_test(
			test_cancel_model_that_leaves_without_retreat_is_made_to_run_later),
		cmocka_unit_test(test_cancel_model_that_aborts_for_sure_is_made_to_run_later),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
