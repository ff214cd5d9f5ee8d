/* SPDX-License-Identifier: MIT */
/* cancel_steps.h - the steps of a waiter, its canceller and a poster: see test_cancel_model.c */
#ifndef UNIT_SCHED_CANCEL_STEPS_H
#define UNIT_SCHED_CANCEL_STEPS_H

#include "tests/unit/sched/explore.h"

enum { WAITER, CANCELLER, POSTER, ACTORS };
enum { IDLE, ARMED, WOKEN, CANCELLED, FIRM };

enum at {
	BEGIN,
	ARM,
	JOIN,  /* take a unit, or join the queue */
	ABORT, /* a unit was there: retract the wait */
	ABORTED,
	LOOK,
	RETRACT,
	ASLEEP,
	FORGET, /* leave the queue */
	UNMASK,
	UNMASKED, /* UNMASK_STORES: between load and store */
	RAISE,
	READ,
	CLAIM,
	READY,
	POST,
	END,
};

enum broken {
	NOTHING,
	NO_SECOND_LOOK, /* reads the flag only before its wait is armed */
	LOOKS_FIRST,	/* takes the second look before its wait is armed */
	READS_FIRST,	/* the canceller reads the word before it sets the flag */
	NO_COMPARISON,	/* the canceller decides a wait that may be decided already */
	NO_RETREAT,	/* a waiter that sees the flag leaves without retracting the wait */
	SURE_ABORT,	/* a waiter that found a unit assumes that no waker has claimed it */
	ARMS_PLAINLY,	/* a masked wait is armed like any other */
	UNMASK_STORES,	/* the mask is cleared by a load and a store */
	MASK_FORGETS,	/* a request that meets a masked fiber is dropped */
};

struct model {
	uint8_t flag, ticket, outcome, queued, units;
	uint8_t runs; /* entries of the fiber in run queues that were not taken out */
	uint8_t at[ACTORS];
	uint8_t rounds, got, posts, saw;
	uint8_t seen_ticket, seen_outcome, looks;
	uint8_t masked, stale, ended_masked;
};

static enum broken broken;

static uint8_t next(const struct model *m)
{
	return !m->rounds ? END : m->masked ? UNMASK : BEGIN;
}

static bool armed(const struct model *m)
{
	return m->outcome == ARMED || m->outcome == FIRM;
}

static bool due(const struct model *m)
{
	return m->flag && !m->masked;
}

static void arm(struct model *m)
{
	m->rounds--;
	m->ticket++;
	m->outcome = m->masked && broken != ARMS_PLAINLY ? FIRM : ARMED;
	m->at[WAITER] = JOIN;
}

static void unmask(struct model *m)
{
	if (broken == UNMASK_STORES && m->at[WAITER] == UNMASK) {
		m->stale = m->flag;
		m->at[WAITER] = UNMASKED;
		return;
	}
	if (broken == UNMASK_STORES)
		m->flag = m->stale;
	m->masked = 0;
	m->at[WAITER] = BEGIN;
}

static void leave(struct model *m)
{
	if (m->outcome == WOKEN) {
		m->got++;
		m->at[WAITER] = next(m);
	} else {
		m->ended_masked = m->masked;
		m->at[WAITER] = FORGET;
	}
}

static void look(struct model *m)
{
	if (!due(m))
		m->at[WAITER] = ASLEEP;
	else
		m->at[WAITER] = broken == NO_RETREAT ? FORGET : RETRACT;
}

static bool step_waiter(struct model *m)
{
	switch (m->at[WAITER]) {
	case BEGIN:
		m->at[WAITER] = due(m) ? END : ARM;
		return true;
	case ARM:
		if (broken == LOOKS_FIRST && !m->saw) {
			m->saw = 1 + due(m);
			return true;
		}
		arm(m);
		return true;
	case UNMASK:
	case UNMASKED:
		unmask(m);
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
		m->at[WAITER] = armed(m) || broken == SURE_ABORT ? next(m) : ABORTED;
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
		m->at[WAITER] = armed(m) ? FORGET : ASLEEP;
		if (armed(m))
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
		m->flag = !(broken == MASK_FORGETS && m->masked);
		*at = broken == READS_FIRST ? CLAIM : READ;
		break;
	case READ:
		m->seen_ticket = m->ticket;
		m->seen_outcome = m->outcome;
		*at = broken == READS_FIRST ? RAISE : CLAIM;
		break;
	case CLAIM:
		/* A canceller that sees nothing armed looks again, after a fence of all threads. */
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
	if (m->queued && armed(m)) {
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
	if (m->ended_masked)
		return "a masked wait is cancelled";
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

static void run_masked(enum broken rule, bool masked, unsigned posts, struct explore *e)
{
	struct model first = {.masked = masked};

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

#endif
