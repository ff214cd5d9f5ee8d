/* SPDX-License-Identifier: MIT */
/* mutex_steps.h - the steps of mutex.c, one access to shared state each; see test_mutex_model.c */
#ifndef UNIT_SYNC_MUTEX_STEPS_H
#define UNIT_SYNC_MUTEX_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include "waiters.h"

#define USERS 3u
#define CLOCK USERS

#define CONTENDED 0x80u

/*
 * RELEASE: the owner releases the mutex if no actor waits. NOBODY: no waiter is left, so the mutex
 * belongs to the releaser again.
 */
enum at {
	TAKE_FREE,
	ARM,
	LOCK_QUEUE,
	READ_OWNER,
	TAKE_OR_ANNOUNCE,
	APPEND,
	UNLOCK_TAKEN,
	UNLOCK_QUEUED,
	ASLEEP,
	LOCK_AGAIN,
	FORGET,
	INSIDE,
	RELEASE,
	LOCK_HAND_OVER,
	CLAIM_NEXT,
	SHOW_NEXT,
	STORE_NEXT,
	NOBODY,
	UNLOCK_HAND_OVER,
	WAKE,
	END
};

enum broken {
	NOTHING,
	STORES_FIRST,	  /* writes the new owner while that owner's record says that it waits */
	NOT_LOCKED_AGAIN, /* a thread whose wait is decided continues without the queue's lock */
	NOT_ANNOUNCED,	  /* joins the queue without marking it in the owner word */
	STORES_FREE,	  /* releases without comparing */
	NO_COMPARISON,	  /* hands the mutex to a waiter whose wait may be over */
	FREES_AND_WAKES,  /* frees the mutex and wakes the first, which tries again */
	NEWEST_FIRST,
};

struct user {
	uint8_t at, rounds, outcome, woken, saw, next;
	uint8_t came; /* the actor's number among the arrivals */
	bool blocks;  /* a thread: continues as soon as its wait is decided */
	bool shown;   /* the actor's record says that it waits; a thread has no record */
};

struct model {
	struct user user[USERS];
	uint8_t owner, locked;
	uint8_t queue[USERS], length;
	uint8_t arrivals; /* in the queue */
	uint8_t clocked;  /* a bit for each actor whose wait the clock may end */
	uint8_t fault;
};

enum { OTHERS_INSIDE = 1, NOT_OWNER, OVERTAKEN, WAITS_FOR_ITSELF };

static enum broken broken;

/*
 * `who` becomes the owner. came: its number among the arrivals in the queue; LATER: it was not in
 * the queue.
 */
#define LATER 0xffu
static void grant(struct model *m, unsigned who, unsigned came)
{
	unsigned i;

	for (i = 0; i < USERS; i++) {
		const struct user *u = &m->user[i];

		if (i != who && (u->at == UNLOCK_QUEUED || u->at == ASLEEP) &&
		    u->outcome == ARMED && u->came < came)
			m->fault = OVERTAKEN;
	}
}

static void enter(struct model *m, unsigned who)
{
	unsigned i;

	for (i = 0; i < USERS; i++)
		if (i != who && m->user[i].at == INSIDE)
			m->fault = OTHERS_INSIDE;
	m->user[who].at = INSIDE;
}

static void next_round(struct user *u)
{
	u->outcome = IDLE;
	u->at = --u->rounds ? TAKE_FREE : END;
}

static bool lock(struct model *m, unsigned who, uint8_t then)
{
	if (m->locked)
		return false;
	m->locked = ME(who);
	m->user[who].at = then;
	return true;
}

/* fiber_mutex_lock up to the queue. */
static bool step_lock(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case TAKE_FREE:
		u->at = ARM;
		if (!m->owner) {
			m->owner = ME(who);
			grant(m, who, LATER);
			enter(m, who);
		}
		return true;
	case ARM:
		u->outcome = ARMED;
		u->at = LOCK_QUEUE;
		return true;
	case LOCK_QUEUE:
		return lock(m, who, READ_OWNER);
	case READ_OWNER:
		u->saw = m->owner;
		u->at = TAKE_OR_ANNOUNCE;
		return true;
	case TAKE_OR_ANNOUNCE:
		if (broken == NOT_ANNOUNCED && u->saw) {
			u->at = APPEND;
		} else if (u->saw & CONTENDED) {
			u->at = APPEND;
		} else if (u->saw != m->owner) {
			u->saw = m->owner; /* the swap failed and has read it again */
		} else {
			m->owner = u->saw ? u->saw | CONTENDED : ME(who);
			u->at = u->saw ? APPEND : UNLOCK_TAKEN;
			if (!u->saw)
				grant(m, who, LATER);
		}
		return true;
	default: /* APPEND; as long as it runs, readers see no wait */
		m->queue[m->length++] = ME(who);
		u->came = ++m->arrivals;
		u->shown = !u->blocks;
		u->at = UNLOCK_QUEUED;
		return true;
	}
}

/* The lock succeeded. */
static void granted(struct model *m, unsigned who)
{
	if ((m->owner & ~CONTENDED) != ME(who))
		m->fault = NOT_OWNER;
	enter(m, who);
}

/* The steps from the queue to the end of fiber_mutex_lock. */
static bool step_wait(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case UNLOCK_TAKEN:
		/* The actor also retracts its wait, which no other actor knows. */
		m->locked = 0;
		u->outcome = IDLE;
		enter(m, who);
		return true;
	case UNLOCK_QUEUED:
		m->locked = 0;
		u->at = ASLEEP;
		return true;
	case ASLEEP:
		if (!u->woken)
			return false;
		u->woken = 0;
		u->shown = false;
		if (u->outcome == TIMED_OUT)
			u->at = FORGET;
		else if (broken == FREES_AND_WAKES)
			u->at = TAKE_FREE;
		else if (u->blocks && broken != NOT_LOCKED_AGAIN)
			u->at = LOCK_AGAIN;
		else
			granted(m, who);
		return true;
	case LOCK_AGAIN:
		if (m->locked)
			return false;
		granted(m, who);
		return true;
	default: /* FORGET */
		if (m->locked)
			return false;
		remove_from(m->queue, &m->length, ME(who));
		next_round(u);
		return true;
	}
}

/* The first waiter becomes the owner. */
static void store_next(struct model *m, unsigned next)
{
	m->owner = (uint8_t)(next | (m->length ? CONTENDED : 0));
	if (m->user[next - 1].shown)
		m->fault = WAITS_FOR_ITSELF;
}

/* Claim the first waiter, under the queue's lock; it is unlinked even if that fails. */
static void claim_next(struct model *m, unsigned who)
{
	struct user *u = &m->user[who], *next;
	unsigned first = m->length ? m->queue[broken == NEWEST_FIRST ? m->length - 1u : 0] : 0;

	u->at = NOBODY;
	if (!first)
		return;
	next = &m->user[first - 1];
	remove_from(m->queue, &m->length, (uint8_t)first);
	if (broken == STORES_FIRST)
		store_next(m, first);
	u->at = CLAIM_NEXT;
	if (next->outcome != ARMED && broken != NO_COMPARISON)
		return;
	u->next = (uint8_t)first;
	u->at = SHOW_NEXT;
	next->outcome = WOKEN;
	if (broken == FREES_AND_WAKES)
		m->owner = 0;
	else
		grant(m, first - 1, next->came);
	if (next->blocks)
		next->woken = 1;
}

static bool step_next(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case CLAIM_NEXT:
		claim_next(m, who);
		return true;
	case SHOW_NEXT:
		m->user[u->next - 1].shown = false;
		u->at = STORE_NEXT;
		return true;
	default: /* STORE_NEXT */
		if (broken != FREES_AND_WAKES)
			store_next(m, u->next);
		u->at = UNLOCK_HAND_OVER;
		return true;
	}
}

/* fiber_mutex_unlock */
static bool step_unlock(struct model *m, unsigned who)
{
	struct user *u = &m->user[who];

	switch (u->at) {
	case INSIDE:
		u->at = RELEASE;
		return true;
	case RELEASE:
		if (m->owner == ME(who) || broken == STORES_FREE) {
			m->owner = 0;
			next_round(u);
		} else {
			if (m->owner != (ME(who) | CONTENDED))
				m->fault = NOT_OWNER;
			u->at = LOCK_HAND_OVER;
		}
		return true;
	case LOCK_HAND_OVER:
		return lock(m, who, CLAIM_NEXT);
	case NOBODY:
		m->owner = ME(who);
		m->locked = 0;
		u->at = RELEASE;
		return true;
	case UNLOCK_HAND_OVER:
		m->locked = 0;
		u->at = WAKE;
		return true;
	case WAKE:
		if (!m->user[u->next - 1].blocks)
			m->user[u->next - 1].woken = 1;
		next_round(u);
		return true;
	default:
		return step_next(m, who);
	}
}

/* End the wait of one actor for which this is allowed, once. */
static bool step_clock(struct model *m)
{
	unsigned i;

	for (i = 0; i < USERS; i++)
		if ((m->clocked >> i & 1) && m->user[i].outcome == ARMED && m->user[i].at == ASLEEP)
			break;
	if (i == USERS)
		return false;
	m->clocked &= (uint8_t) ~(1u << i);
	m->user[i].outcome = TIMED_OUT;
	m->user[i].woken = 1;
	return true;
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;

	if (who == CLOCK)
		return step_clock(m);
	if (m->user[who].at == END)
		return false;
	if (m->user[who].at <= APPEND)
		return step_lock(m, who);
	return m->user[who].at <= FORGET ? step_wait(m, who) : step_unlock(m, who);
}

#endif
