/* SPDX-License-Identifier: MIT */
/*
 * test_lot_model.c - a mutex of one word whose waiters are in the lot, in every interleaving
 *
 * The mutex is that of libfiber-posix (threads/mutex.c): free, taken, or waited for. Three actors lock
 * and unlock a number of times, and a clock may end waits. The steps are those of lot.c: a waiter counts
 * itself, and looks at the word again under the queue's lock; who unlocks changes the word and then
 * looks at the count. While a wait lasts for long, the mutex is handed to the first waiter instead.
 *
 * At most one actor is inside, and no actor sleeps for ever. Then each rule is left out, and the model
 * must find the error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

#define USERS	 3u
#define CLOCK	 USERS
#define PATIENCE (USERS + 1) /* a wait begins to last for long, or such a wait ends */

enum { FREE, TAKEN, WAITED };

enum at {
	TAKE_FREE, /* compare-and-swap */
	MARK,	   /* exchange */
	COUNT,
	LOCK_QUEUE,
	LOOK,	/* still(): exchange again */
	APPEND, /* and the unlock of the queue */
	ASLEEP,
	LEAVE, /* the count, after the wait; then MARK again */
	INSIDE,
	RELEASE, /* exchange */
	LOCK_TO_HAND,
	HAND, /* mark the word, tell the first waiter and claim it, and unlock the queue */
	READ_COUNT,
	LOCK_TO_WAKE,
	WAKE, /* the first one whose wait has not ended, and the unlock of the queue */
	END
};

enum broken {
	NOTHING,
	COUNTS_LATE,	   /* a waiter counts itself when it is in the queue */
	LOOKS_BEFORE,	   /* a waiter looks at the word before it has the queue's lock */
	TAKES_UNMARKED,	   /* who was woken takes the mutex as if no other waited */
	READS_COUNT_FIRST, /* who unlocks looks at the count before the word changes */
	WAKES_THE_LATE,	   /* a wake-up may go to one whose wait has ended */
	HANDS_TO_THE_LATE, /* the mutex too */
	HANDS_AND_FREES,   /* who hands the mutex to another also makes the word free */
	TELLS_LATE,	   /* who is handed the mutex is told after it was claimed */
};

struct user {
	uint8_t at, rounds, found;
	bool counted, must, woken, late, again, handed;
};

struct model {
	struct user user[USERS];
	uint8_t word, count, locked, length, queue[USERS], clocked, fault, changes;
	uint8_t told; /* TELLS_LATE: 1 + who is to be told yet */
	bool starving;
};

static enum broken broken;

static void enter(struct model *m, unsigned who)
{
	unsigned i;

	for (i = 0; i < USERS; i++)
		if (i != who && m->user[i].at == INSIDE)
			m->fault = 1;
	m->user[who].at = INSIDE;
}

/* Take the word or mark it; whether it was taken by another. */
static bool mark(struct model *m, const struct user *u)
{
	const uint8_t before = m->word;

	if (broken == TAKES_UNMARKED && u->again && before == FREE)
		m->word = TAKEN;
	else
		m->word = WAITED;
	return before != FREE;
}

static void drop(struct model *m, unsigned i)
{
	memmove(m->queue + i, m->queue + i + 1, USERS - 1 - i);
	m->queue[USERS - 1] = 0;
	m->length--;
}

static bool step_lock(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case TAKE_FREE:
		u->at = MARK;
		if (m->word == FREE) {
			m->word = TAKEN;
			enter(m, who);
		}
		return true;
	case MARK:
		if (!mark(m, u))
			enter(m, who);
		else
			u->at = broken == COUNTS_LATE ? LOCK_QUEUE : COUNT;
		return true;
	case COUNT:
		m->count++;
		u->counted = true;
		u->at = broken == LOOKS_BEFORE ? LOOK : LOCK_QUEUE;
		return true;
	case LOCK_QUEUE:
		if (m->locked)
			return false;
		m->locked = 1;
		u->at = broken == LOOKS_BEFORE ? APPEND : LOOK;
		return true;
	case LOOK:
		u->must = mark(m, u);
		u->at = broken == LOOKS_BEFORE && u->must ? LOCK_QUEUE : APPEND;
		return true;
	default: /* APPEND */
		if (broken != LOOKS_BEFORE || u->must)
			m->locked = 0;
		if (u->must) {
			m->queue[m->length++] = (uint8_t)who;
			u->at = ASLEEP;
			if (broken == COUNTS_LATE) {
				m->count++;
				u->counted = true;
			}
			return true;
		}
		m->count = (uint8_t)(m->count - u->counted);
		u->counted = false;
		enter(m, who);
		return true;
	}
}

static bool step_wait(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];
	unsigned i;

	if (u->at == LEAVE) {
		m->count--;
		u->counted = false;
		u->again = true;
		u->at = u->late ? END : MARK;
		if (u->handed)
			enter(m, who);
		u->handed = false;
		return true;
	}
	/* ASLEEP. One whose time is over leaves the queue under its lock. */
	if (u->woken) {
		u->woken = false;
		u->at = LEAVE;
		return true;
	}
	if (!u->late || m->locked)
		return false;
	for (i = 0; i < m->length; i++)
		if (m->queue[i] == who)
			drop(m, i);
	u->at = LEAVE;
	return true;
}

/* Returns whether there was one. */
static bool hand(struct model *m)
{
	while (m->length) {
		const unsigned i = m->queue[0];
		struct user *const first = &m->user[i];

		drop(m, 0);
		if (first->late && broken != HANDS_TO_THE_LATE)
			continue;
		first->woken = !first->late;
		if (broken == TELLS_LATE)
			m->told = (uint8_t)(i + 1);
		else
			first->handed = !first->late;
		return true;
	}
	return false;
}

static bool step_hand(struct model *m, struct user *u)
{
	if (m->locked)
		return false;
	if (u->at == LOCK_TO_HAND) {
		m->word = WAITED;
		u->at = HAND;
	} else if (hand(m)) {
		if (broken == HANDS_AND_FREES)
			m->word = FREE;
		u->at = --u->rounds ? TAKE_FREE : END;
	} else {
		u->at = RELEASE;
	}
	return true;
}

static bool step_unlock(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case INSIDE:
		u->again = false;
		u->found = m->count;
		u->at = m->starving ? LOCK_TO_HAND : RELEASE;
		return true;
	case LOCK_TO_HAND:
	case HAND:
		return step_hand(m, u);
	case RELEASE:
		u->at = m->word == WAITED ? READ_COUNT : END;
		m->word = FREE;
		break;
	case READ_COUNT:
		u->at = (broken == READS_COUNT_FIRST ? u->found : m->count) ? LOCK_TO_WAKE : END;
		break;
	case LOCK_TO_WAKE:
		if (m->locked)
			return false;
		m->locked = 1;
		u->at = WAKE;
		return true;
	default: /* WAKE */
		while (m->length) {
			struct user *const first = &m->user[m->queue[0]];

			drop(m, 0);
			if (!first->late || broken == WAKES_THE_LATE) {
				first->woken = !first->late;
				break;
			}
		}
		m->locked = 0;
		u->at = END;
		break;
	}
	if (u->at == END && --u->rounds)
		u->at = TAKE_FREE;
	return true;
}

static bool step(void *state, unsigned actor)
{
	struct model *m = state;
	unsigned i;

	if (actor == CLOCK) {
		for (i = 0; i < USERS; i++) {
			if (m->clocked >> i & 1 && m->user[i].at == ASLEEP && !m->user[i].woken) {
				m->clocked = (uint8_t)(m->clocked & ~(1u << i));
				m->user[i].late = true;
				return true;
			}
		}
		return false;
	}
	if (actor == PATIENCE) {
		if (m->told) {
			m->user[m->told - 1].handed = true;
			m->told = 0;
			return true;
		}
		if (!m->changes)
			return false;
		m->changes--;
		m->starving = !m->starving;
		return true;
	}
	switch (m->user[actor].at) {
	case END:
		return false;
	case ASLEEP:
	case LEAVE:
		return step_wait(m, actor);
	case INSIDE:
	case RELEASE:
	case LOCK_TO_HAND:
	case HAND:
	case READ_COUNT:
	case LOCK_TO_WAKE:
	case WAKE:
		return step_unlock(m, actor);
	default:
		return step_lock(m, actor);
	}
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i;

	if (m->fault)
		return "two are inside";
	for (i = 0; final && i < USERS; i++)
		if (m->user[i].at != END)
			return "an actor sleeps for ever";
	return final && (m->word || m->count || m->length) ? "all have left, and it is not free"
							   : NULL;
}

static void run(enum broken rule, const char *rounds, unsigned clocked, unsigned changes,
		struct explore *e)
{
	struct model first = {.clocked = (uint8_t)clocked, .changes = (uint8_t)changes};
	unsigned i;

	*e = (struct explore){sizeof first, USERS + 2, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	for (i = 0; i < USERS; i++) {
		first.user[i].rounds = (uint8_t)(rounds[i] - '0');
		first.user[i].at = first.user[i].rounds ? TAKE_FREE : END;
	}
	explore(e, &first);
}

static void holds(const char *rounds, unsigned clocked, unsigned changes)
{
	struct explore e;

	run(NOTHING, rounds, clocked, changes, &e);
	if (e.found)
		print_message("# %s, %u, %u: %s: %s\n", rounds, clocked, changes, e.found, e.way);
	assert_null(e.found);
	assert_true(e.states > 20 && e.finals > 0);
}

static void test_lot_model_lets_in_one_and_forgets_none(void **state)
{
	static const char *const rounds[] = {"110", "220", "111", "211", "321"};

	(void)state;
	for (unsigned i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
		for (unsigned clocked = 0; clocked < 8; clocked++)
			holds(rounds[i], clocked, 0);
}

static void test_lot_model_that_hands_the_mutex_over_lets_in_one_and_forgets_none(void **state)
{
	static const char *const rounds[] = {"110", "220", "111", "211"};

	(void)state;
	for (unsigned i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
		for (unsigned clocked = 0; clocked < 8; clocked++)
			for (unsigned changes = 1; changes <= 2; changes++)
				holds(rounds[i], clocked, changes);
}

static void sleeps_for_ever(enum broken rule, const char *rounds, unsigned clocked)
{
	struct explore e;

	run(rule, rounds, clocked, 0, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, "an actor sleeps for ever");
}

static void test_lot_model_that_counts_or_looks_at_the_wrong_time_leaves_a_sleeper(void **state)
{
	(void)state;
	sleeps_for_ever(COUNTS_LATE, "110", 0);
	sleeps_for_ever(LOOKS_BEFORE, "110", 0);
	sleeps_for_ever(READS_COUNT_FIRST, "110", 0);
}

static void test_lot_model_whose_woken_waiter_does_not_mark_leaves_a_sleeper(void **state)
{
	(void)state;
	sleeps_for_ever(TAKES_UNMARKED, "111", 0);
}

static void test_lot_model_that_wakes_one_whose_time_is_over_leaves_a_sleeper(void **state)
{
	(void)state;
	sleeps_for_ever(WAKES_THE_LATE, "111", 2);
}

/* The step of a rule that is left out must be found as this error. */
static void hands_wrongly(enum broken rule, unsigned clocked, const char *error)
{
	struct explore e;

	run(rule, "211", clocked, 1, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, error);
}

static void test_lot_model_that_hands_over_wrongly_loses_the_mutex_or_lets_in_two(void **state)
{
	(void)state;
	hands_wrongly(HANDS_TO_THE_LATE, 2, "all have left, and it is not free");
	hands_wrongly(HANDS_AND_FREES, 0, "two are inside");
	hands_wrongly(TELLS_LATE, 0, "an actor sleeps for ever");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lot_model_lets_in_one_and_forgets_none),
		cmocka_unit_test(
			test_lot_model_that_hands_the_mutex_over_lets_in_one_and_forgets_none),
		cmocka_unit_test(
			test_lot_model_that_hands_over_wrongly_loses_the_mutex_or_lets_in_two),
		cmocka_unit_test(
			test_lot_model_that_counts_or_looks_at_the_wrong_time_leaves_a_sleeper),
		cmocka_unit_test(test_lot_model_whose_woken_waiter_does_not_mark_leaves_a_sleeper),
		cmocka_unit_test(test_lot_model_that_wakes_one_whose_time_is_over_leaves_a_sleeper),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
