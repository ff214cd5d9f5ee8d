/* SPDX-License-Identifier: MIT */
/* rwlock_steps.h - the steps of rwlock.c, one access to shared state each; see test_rwlock_model.c */
#ifndef UNIT_SYNC_RWLOCK_STEPS_H
#define UNIT_SYNC_RWLOCK_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include "waiters.h"

#define USERS 4u
#define CLOCK USERS

/* The state word, without the marks. */
#define WAITED	0x80u
#define WRITTEN 0x40u
#define READERS 0x3fu

enum at {
	READ_STATE, /* fiber_rwlock_rdlock, _wrlock */
	ENTER,
	LOCK_QUEUE, /* take_or_join */
	READ_AGAIN,
	ENTER_OR_ANNOUNCE,
	APPEND,
	UNLOCK_TAKEN,
	UNLOCK_QUEUED,
	ASLEEP,
	FORGET,
	INSIDE,
	READ_LEAVE, /* fiber_rwlock_unlock */
	LEAVE,
	LOCK_LEAVE, /* unlock_waited */
	READ_LEAVE_AGAIN,
	UNLOCK_AGAIN,
	LEAVE_LOCKED,
	LOCK_LET_IN, /* a wait that timed out */
	READ_WAITED,
	CLAIM_NEXT, /* let_in */
	STORE_STATE,
	READ_FLAG,
	CLEAR_FLAG,
	UNLOCK_LET_IN,
	WAKE,
	END
};

enum broken {
	NOTHING,
	ANNOUNCES_BLINDLY, /* sets WAITED after a look that another look has overtaken */
	LEAVES_FAST,	   /* unlocks without the queue's lock although WAITED is set */
	READERS_PASS,	   /* a reader enters beside readers although WAITED is set */
	CLEARS_EARLY,	   /* clears WAITED although there are waiters */
	FREES_LOCKED,	   /* unlocks under the queue's lock although WAITED is clear */
};

struct user {
	uint8_t at, outcome, woken, saw, next;
	uint8_t came; /* the actor's number among the arrivals */
	bool writes, left;
};

struct model {
	struct user user[USERS];
	uint8_t state, locked;
	uint8_t queue[USERS], length;
	uint8_t claimed
		[USERS]; /* by the actor that has the queue's lock, or had it last: to wake */
	uint8_t arrivals;
	uint8_t clocked; /* a bit for each actor whose wait the clock may end */
	uint8_t fault;
	bool freed;
};

enum { WRITER_NOT_ALONE = 1, OVERTAKEN, TOUCHED };

static enum broken broken;

static bool may_enter(uint8_t state, bool writes)
{
	return !(state & WRITTEN) && !(writes && state & READERS);
}

static uint8_t entered(uint8_t state, bool writes)
{
	return writes ? state | WRITTEN : (uint8_t)(state + 1);
}

static uint8_t left(uint8_t state, bool wrote)
{
	return wrote ? state & (uint8_t)~WRITTEN : (uint8_t)(state - 1);
}

/* The lock succeeded, of an actor that came as number `came`. */
static void inside(struct model *m, unsigned who)
{
	struct user *me = &m->user[who];
	unsigned i;

	me->at = INSIDE;
	for (i = 0; i < USERS; i++)
		if (i != who && m->user[i].at == INSIDE && (me->writes || m->user[i].writes))
			m->fault = WRITER_NOT_ALONE;
}

/* An actor that is not in the queue enters: no actor may be left behind in it. */
static void overtakes(struct model *m)
{
	unsigned i;

	for (i = 0; i < USERS; i++)
		if (m->user[i].at == ASLEEP && m->user[i].outcome == ARMED)
			m->fault = OVERTAKEN;
}

/*
 * The actor is inside no more. A writer that was the last to enter frees the lock as soon as its
 * unlock returns: all actors that were inside before it have left.
 */
static void leaves(struct model *m, unsigned who, uint8_t then)
{
	struct user *me = &m->user[who];
	unsigned i;

	me->at = then;
	me->left = true;
	m->freed = me->writes && then == END;
	for (i = 0; i < USERS; i++)
		if (!m->user[i].left && m->user[i].at != END)
			m->freed = false;
}

static bool lock(struct model *m, unsigned who, uint8_t then)
{
	if (m->locked)
		return false;
	m->locked = ME(who);
	m->user[who].at = then;
	return true;
}

/* fiber_rwlock_rdlock or _wrlock up to the queue. */
static bool step_lock(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];
	const bool passes = broken == READERS_PASS && !u->writes && u->saw & READERS;

	switch (u->at) {
	case READ_STATE:
		u->saw = m->state;
		u->at = ENTER;
		return true;
	case ENTER:
		if ((u->saw & WAITED && !passes) || !may_enter(u->saw, u->writes)) {
			u->at = LOCK_QUEUE;
		} else if (u->saw != m->state) {
			u->saw = m->state; /* the swap failed and has read it again */
		} else {
			m->state = entered(m->state, u->writes);
			overtakes(m);
			inside(m, who);
		}
		return true;
	case LOCK_QUEUE:
		u->outcome = ARMED;
		return lock(m, who, READ_AGAIN);
	case READ_AGAIN:
		u->saw = m->state;
		u->at = ENTER_OR_ANNOUNCE;
		return true;
	case ENTER_OR_ANNOUNCE:
		if (u->saw & WAITED) {
			u->at = APPEND;
		} else if (broken == ANNOUNCES_BLINDLY && !may_enter(u->saw, u->writes)) {
			m->state |= WAITED;
			u->at = APPEND;
		} else if (u->saw != m->state) {
			u->saw = m->state;
		} else if (may_enter(u->saw, u->writes)) {
			m->state = entered(m->state, u->writes);
			u->at = UNLOCK_TAKEN;
		} else {
			m->state |= WAITED;
			u->at = APPEND;
		}
		return true;
	default: /* APPEND */
		m->queue[m->length++] = ME(who);
		u->came = ++m->arrivals;
		u->at = UNLOCK_QUEUED;
		return true;
	}
}

/* The steps from the queue to the end of the lock. */
static bool step_wait(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case UNLOCK_TAKEN:
		m->locked = 0;
		u->outcome = IDLE;
		inside(m, who);
		return true;
	case UNLOCK_QUEUED:
		m->locked = 0;
		u->at = ASLEEP;
		return true;
	case ASLEEP:
		if (!u->woken)
			return false;
		u->woken = 0;
		if (u->outcome == TIMED_OUT)
			u->at = FORGET;
		else
			inside(m, who);
		return true;
	default: /* FORGET */
		if (m->locked)
			return false;
		remove_from(m->queue, &m->length, ME(who));
		u->at = LOCK_LET_IN;
		return true;
	}
}

/* Claim the first waiter if it can enter, under the queue's lock. */
static void claim_next(struct model *m, unsigned who)
{
	struct user *u = &m->user[who], *next;
	const uint8_t first = m->length ? m->queue[0] : 0;

	u->saw = m->state;
	u->at = first ? UNLOCK_LET_IN : READ_FLAG;
	if (broken == CLEARS_EARLY)
		u->at = READ_FLAG;
	if (!first || !may_enter(u->saw, m->user[first - 1].writes))
		return;
	next = &m->user[first - 1];
	remove_from(m->queue, &m->length, first);
	u->at = CLAIM_NEXT;
	if (next->outcome != ARMED)
		return;
	next->outcome = WOKEN;
	m->claimed[first - 1] = ME(who);
	u->next = first;
	u->at = STORE_STATE;
}

/* let_in */
static bool step_let_in(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case CLAIM_NEXT:
		claim_next(m, who);
		return true;
	case STORE_STATE:
		m->state = entered(u->saw, m->user[u->next - 1].writes);
		u->at = CLAIM_NEXT;
		return true;
	case READ_FLAG:
		u->saw = m->state;
		u->at = CLEAR_FLAG;
		return true;
	case CLEAR_FLAG:
		m->state = u->saw & (uint8_t)~WAITED;
		u->at = UNLOCK_LET_IN;
		return true;
	case UNLOCK_LET_IN:
		m->locked = 0;
		u->at = WAKE;
		return true;
	default: /* WAKE */
		for (unsigned i = 0; i < USERS; i++) {
			if (m->claimed[i] != ME(who))
				continue;
			m->claimed[i] = 0;
			m->user[i].woken = 1;
		}
		u->at = END;
		return true;
	}
}

/* fiber_rwlock_unlock */
static bool step_unlock(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case INSIDE:
		u->at = READ_LEAVE;
		return true;
	case READ_LEAVE:
		u->saw = m->state;
		u->at = LEAVE;
		return true;
	case LEAVE:
		if (u->saw & WAITED && broken != LEAVES_FAST) {
			u->at = LOCK_LEAVE;
		} else if (u->saw != m->state) {
			u->saw = m->state;
		} else {
			m->state = left(m->state, u->writes);
			leaves(m, who, END);
		}
		return true;
	case LOCK_LEAVE:
		return lock(m, who, READ_LEAVE_AGAIN);
	case READ_LEAVE_AGAIN:
		u->saw = m->state;
		u->at = u->saw & WAITED || broken == FREES_LOCKED ? LEAVE_LOCKED : UNLOCK_AGAIN;
		return true;
	case UNLOCK_AGAIN:
		m->locked = 0;
		u->at = READ_LEAVE;
		return true;
	case LEAVE_LOCKED:
		if (u->saw != m->state && broken == FREES_LOCKED) {
			u->saw = m->state;
			return true;
		}
		m->state = left(u->saw, u->writes);
		leaves(m, who, u->saw & WAITED ? CLAIM_NEXT : UNLOCK_LET_IN);
		return true;
	case LOCK_LET_IN:
		return lock(m, who, READ_WAITED);
	default: /* READ_WAITED */
		u->at = m->state & WAITED ? CLAIM_NEXT : UNLOCK_LET_IN;
		return true;
	}
}

/* End the wait of one actor for which this is allowed, once. */
static bool step_clock(struct model *m)
{
	unsigned i;

	for (i = 0; i < USERS; i++) {
		struct user *u = &m->user[i];

		if (m->clocked >> i & 1 && u->at == ASLEEP && u->outcome == ARMED) {
			m->clocked &= (uint8_t) ~(1u << i);
			u->outcome = TIMED_OUT;
			u->woken = 1;
			return true;
		}
	}
	return false;
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;

	if (who == CLOCK)
		return step_clock(m);
	if (m->user[who].at == END)
		return false;
	if (m->freed && m->user[who].at != WAKE)
		m->fault = TOUCHED;
	if (m->user[who].at <= APPEND)
		return step_lock(m, who);
	if (m->user[who].at <= FORGET)
		return step_wait(m, who);
	if (m->user[who].at <= READ_WAITED)
		return step_unlock(m, who);
	return step_let_in(m, who);
}

#endif
