/* SPDX-License-Identifier: MIT */
/*
 * machine.h - small random programs, and every outcome that they can have
 *
 * A state machine that knows nothing of libfiber. Up to 3 fibers run up to 5 operations each on two
 * variables, two mutexes, a semaphore and a channel. Each operation is one step, and any fiber that
 * is not blocked may make the next one. Mutexes, the semaphore and the channel serve their waiters
 * first in, first out, and hand over directly. All states that can be reached are visited; those in
 * which no fiber can go on are the outcomes.
 */
#ifndef TESTS_EXPLORE_MACHINE_H
#define TESTS_EXPLORE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_FIBERS		3
#define MACHINE_OPS		5
#define MACHINE_ROOM		2			     /* elements of the channel, at most */
#define MACHINE_STATES		(1u << 16)		     /* at most */
#define MACHINE_OUTCOMES	(1u << 12)		     /* at most */
#define MACHINE_REGISTER(fiber) ((uint8_t)(4 * (fiber) + 1)) /* at the start */

/* A register shows in which order things came into it. */
#define MACHINE_MIX(reg, value) ((uint8_t)(3 * (reg) + (value)))

enum machine_op {
	MACHINE_LOAD,	 /* register = MACHINE_MIX(register, variable) */
	MACHINE_STORE,	 /* variable = register + 1 */
	MACHINE_LOCK,	 /* mutex */
	MACHINE_UNLOCK,	 /* mutex */
	MACHINE_TRYLOCK, /* mutex; the same with 1 if it was locked already, else 0 */
	MACHINE_POST,
	MACHINE_WAIT,
	MACHINE_SEND,	 /* register */
	MACHINE_RECEIVE, /* the same with the element */
};

struct machine_program {
	unsigned fibers;
	unsigned room;	/* of the channel */
	unsigned count; /* of the semaphore, at the start */
	struct {
		unsigned n;
		struct {
			enum machine_op op;
			unsigned object; /* 0 or 1: the variable or mutex */
		} at[MACHINE_OPS];
	} of[MACHINE_FIBERS];
};

/* Numbers of fibers that wait, the longest first. */
struct machine_queue {
	uint8_t n, at[MACHINE_FIBERS];
};

/* Without padding: states are compared as bytes. */
struct machine {
	uint8_t pc[MACHINE_FIBERS], reg[MACHINE_FIBERS], blocked[MACHINE_FIBERS];
	uint8_t variable[2];
	uint8_t owner[2]; /* 0: none; else the fiber + 1 */
	uint8_t count;	  /* of the semaphore */
	uint8_t length, element[MACHINE_ROOM];
	struct machine_queue lockers[2], waiters, senders, receivers;
};

/* What remains: enough to tell two outcomes apart. */
static inline uint64_t machine_outcome(unsigned fibers, const uint8_t pc[], const uint8_t reg[],
				       const uint8_t variable[])
{
	uint64_t outcome = (uint64_t)variable[0] << 8 | variable[1];
	unsigned i;

	for (i = 0; i < fibers; i++)
		outcome = outcome << 12 | (uint64_t)(pc[i] & 15) << 8 | reg[i];
	return outcome;
}

/* -- programs -- */

static inline unsigned machine_random(uint64_t *seed, unsigned below)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((z ^ (z >> 31)) % below);
}

/* The operations of one fiber. It unlocks only what it has locked for certain. */
static inline void machine_generate_fiber(struct machine_program *p, unsigned fiber, unsigned n,
					  uint64_t *seed)
{
	/* Those with more effects more often. */
	static const enum machine_op ops[] = {
		MACHINE_LOAD,  MACHINE_LOAD,	MACHINE_LOAD, MACHINE_STORE, MACHINE_STORE,
		MACHINE_STORE, MACHINE_LOCK,	MACHINE_LOCK, MACHINE_SEND,  MACHINE_RECEIVE,
		MACHINE_POST,  MACHINE_TRYLOCK, MACHINE_WAIT};
	bool holds[2] = {false, false};
	unsigned i, object;
	enum machine_op op;

	for (i = 0; i < n; i++) {
		op = ops[machine_random(seed, sizeof ops / sizeof *ops)];
		object = machine_random(seed, 4) == 0;
		if ((op == MACHINE_LOCK || op == MACHINE_TRYLOCK) && holds[object])
			op = MACHINE_UNLOCK;
		else if (op == MACHINE_UNLOCK && !holds[object])
			op = MACHINE_LOCK;
		if (op == MACHINE_LOCK || op == MACHINE_UNLOCK)
			holds[object] = op == MACHINE_LOCK;
		p->of[fiber].at[i].op = op;
		p->of[fiber].at[i].object = object;
	}
	p->of[fiber].n = n;
}

/* Two fibers of 3 to 5 operations; every eighth program has three, of 2 or 3. */
static inline void machine_generate(uint64_t seed, struct machine_program *ret)
{
	uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + 1;
	unsigned i;

	ret->fibers = seed % 8 ? 2 : 3;
	ret->room = machine_random(&state, MACHINE_ROOM + 1);
	ret->count = machine_random(&state, 2);
	for (i = 0; i < ret->fibers; i++)
		machine_generate_fiber(ret, i,
				       ret->fibers == 2 ? 3 + machine_random(&state, 3)
							: 2 + machine_random(&state, 2),
				       &state);
}

/* -- steps -- */

static inline void machine_block(struct machine *m, struct machine_queue *q, unsigned fiber)
{
	q->at[q->n++] = (uint8_t)fiber;
	m->blocked[fiber] = 1;
}

/* The longest waiter has what it waited for. */
static inline unsigned machine_serve(struct machine *m, struct machine_queue *q)
{
	const unsigned fiber = q->at[0];

	memmove(q->at, q->at + 1, sizeof q->at - 1);
	q->at[--q->n] = 0;
	m->blocked[fiber] = 0;
	m->pc[fiber]++;
	return fiber;
}

static inline void machine_lock(struct machine *m, unsigned fiber, unsigned mutex)
{
	if (m->owner[mutex]) {
		machine_block(m, &m->lockers[mutex], fiber);
		return;
	}
	m->owner[mutex] = (uint8_t)(fiber + 1);
	m->pc[fiber]++;
}

static inline void machine_unlock(struct machine *m, unsigned fiber, unsigned mutex)
{
	m->owner[mutex] = 0;
	if (m->lockers[mutex].n)
		m->owner[mutex] = (uint8_t)(machine_serve(m, &m->lockers[mutex]) + 1);
	m->pc[fiber]++;
}

static inline void machine_trylock(struct machine *m, unsigned fiber, unsigned mutex)
{
	m->reg[fiber] = MACHINE_MIX(m->reg[fiber], m->owner[mutex] != 0);
	if (!m->owner[mutex])
		m->owner[mutex] = (uint8_t)(fiber + 1);
	m->pc[fiber]++;
}

static inline void machine_post(struct machine *m, unsigned fiber)
{
	if (m->waiters.n)
		machine_serve(m, &m->waiters);
	else
		m->count++;
	m->pc[fiber]++;
}

static inline void machine_wait(struct machine *m, unsigned fiber)
{
	if (!m->count) {
		machine_block(m, &m->waiters, fiber);
		return;
	}
	m->count--;
	m->pc[fiber]++;
}

static inline void machine_send(struct machine *m, unsigned fiber, unsigned room)
{
	unsigned receiver;

	if (m->receivers.n) {
		receiver = machine_serve(m, &m->receivers);
		m->reg[receiver] = MACHINE_MIX(m->reg[receiver], m->reg[fiber]);
	} else if (m->length < room) {
		m->element[m->length++] = m->reg[fiber];
	} else {
		machine_block(m, &m->senders, fiber);
		return;
	}
	m->pc[fiber]++;
}

static inline void machine_receive(struct machine *m, unsigned fiber)
{
	if (m->length) {
		m->reg[fiber] = MACHINE_MIX(m->reg[fiber], m->element[0]);
		memmove(m->element, m->element + 1, sizeof m->element - 1);
		m->element[--m->length] = 0;
		if (m->senders.n) {
			m->element[m->length++] = m->reg[m->senders.at[0]];
			machine_serve(m, &m->senders);
		}
	} else if (m->senders.n) {
		m->reg[fiber] = MACHINE_MIX(m->reg[fiber], m->reg[m->senders.at[0]]);
		machine_serve(m, &m->senders);
	} else {
		machine_block(m, &m->receivers, fiber);
		return;
	}
	m->pc[fiber]++;
}

static inline void machine_step(const struct machine_program *p, struct machine *m, unsigned fiber)
{
	const unsigned at = m->pc[fiber], object = p->of[fiber].at[at].object;

	switch (p->of[fiber].at[at].op) {
	case MACHINE_LOAD:
		m->reg[fiber] = MACHINE_MIX(m->reg[fiber], m->variable[object]);
		m->pc[fiber]++;
		break;
	case MACHINE_STORE:
		m->variable[object] = (uint8_t)(m->reg[fiber] + 1);
		m->pc[fiber]++;
		break;
	case MACHINE_LOCK:
		machine_lock(m, fiber, object);
		break;
	case MACHINE_UNLOCK:
		machine_unlock(m, fiber, object);
		break;
	case MACHINE_TRYLOCK:
		machine_trylock(m, fiber, object);
		break;
	case MACHINE_POST:
		machine_post(m, fiber);
		break;
	case MACHINE_WAIT:
		machine_wait(m, fiber);
		break;
	case MACHINE_SEND:
		machine_send(m, fiber, p->room);
		break;
	case MACHINE_RECEIVE:
		machine_receive(m, fiber);
		break;
	}
}

/* -- all states -- */

struct machine_search {
	const struct machine_program *program;
	struct machine *seen; /* a hash table */
	bool *used;
	unsigned states;
	uint64_t outcomes[MACHINE_OUTCOMES]; /* a set, see machine_add() */
	unsigned n;
};

/* Add to a set of n numbers. Returns its new size. */
static inline unsigned machine_add(uint64_t set[], unsigned n, uint64_t number)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (set[i] == number)
			return n;
	if (n == MACHINE_OUTCOMES)
		abort();
	set[n] = number;
	return n + 1;
}

/* Returns whether the state was not there. */
static inline bool machine_remember(struct machine_search *s, const struct machine *m)
{
	const unsigned char *bytes = (const unsigned char *)m;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < sizeof *m; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	for (i = hash % MACHINE_STATES; s->used[i]; i = (i + 1) % MACHINE_STATES)
		if (memcmp(&s->seen[i], m, sizeof *m) == 0)
			return false;
	if (++s->states > MACHINE_STATES / 2)
		abort();
	s->used[i] = true;
	s->seen[i] = *m;
	return true;
}

static inline void machine_visit(struct machine_search *s, const struct machine *m)
{
	const struct machine_program *p = s->program;
	bool stuck = true;
	unsigned i;

	if (!machine_remember(s, m))
		return;
	for (i = 0; i < p->fibers; i++) {
		struct machine next = *m;

		if (m->blocked[i] || m->pc[i] == p->of[i].n)
			continue;
		stuck = false;
		machine_step(p, &next, i);
		machine_visit(s, &next);
	}
	if (stuck)
		s->n = machine_add(s->outcomes, s->n,
				   machine_outcome(p->fibers, m->pc, m->reg, m->variable));
}

/* Find every outcome. Returns their number; ret has room for MACHINE_OUTCOMES. */
static inline unsigned machine_outcomes(const struct machine_program *p, uint64_t ret[])
{
	struct machine_search *s = calloc(1, sizeof *s);
	struct machine start = {.count = (uint8_t)p->count};
	unsigned i, n;

	if (!s)
		abort();
	s->program = p;
	s->seen = calloc(MACHINE_STATES, sizeof *s->seen);
	s->used = calloc(MACHINE_STATES, sizeof *s->used);
	if (!s->seen || !s->used)
		abort();
	for (i = 0; i < p->fibers; i++)
		start.reg[i] = MACHINE_REGISTER(i);
	machine_visit(s, &start);
	n = s->n;
	memcpy(ret, s->outcomes, n * sizeof *ret);
	free(s->seen);
	free(s->used);
	free(s);
	return n;
}

#endif
