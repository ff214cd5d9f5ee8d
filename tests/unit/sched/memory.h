/* SPDX-License-Identifier: MIT */
/*
 * memory.h - memory as a model's actors may see it: late, and out of order
 *
 * A store goes into its actor's buffer, where only that actor sees it, until at some moment it
 * reaches the shared memory. A store that is seen after a later load is the one reordering that
 * even x86 allows (MEMORY_TSO: a buffer is emptied in its order); a full fence forbids it.
 *
 * Under MEMORY_WEAK stores also overtake each other. A store never overtakes one to the same place.
 * A release store leaves when all stores before it have left, and a store after a release fence
 * leaves after all stores before the fence.
 *
 * Loads happen in the order in which the model makes them. A load that a missing acquire would let
 * slip is modelled as the two steps in the other order.
 *
 * A model calls memory_flush for the actors after its own: MEMORY_FLUSHERS(n) of them for n actors.
 */
#ifndef UNIT_SCHED_MEMORY_H
#define UNIT_SCHED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MEMORY_PLACES 8
#define MEMORY_ACTORS 4
#define MEMORY_DEPTH  4

#define MEMORY_FLUSHERS(n) ((n)*MEMORY_DEPTH)

enum memory_order_model { MEMORY_TSO, MEMORY_WEAK };

struct memory_buffered {
	uint8_t place, value;
	uint8_t release; /* leaves only when it is the oldest */
	uint8_t group;	 /* leaves after all stores of a smaller group */
};

struct memory {
	uint8_t at[MEMORY_PLACES]; /* what all actors see */
	uint8_t count[MEMORY_ACTORS], group[MEMORY_ACTORS];
	struct memory_buffered buffer[MEMORY_ACTORS][MEMORY_DEPTH];
};

static enum memory_order_model memory_model;

static inline uint8_t memory_load(const struct memory *m, unsigned who, unsigned place)
{
	unsigned i;

	for (i = m->count[who]; i; i--)
		if (m->buffer[who][i - 1].place == place)
			return m->buffer[who][i - 1].value;
	return m->at[place];
}

/* Whether all actors see everything that this actor stored: a full fence and a read-modify-write
 * wait for it. */
static inline bool memory_drained(const struct memory *m, unsigned who)
{
	return m->count[who] == 0;
}

/* Store, relaxed or release. False: the buffer is full; try again when a store has left. */
static inline bool memory_put(struct memory *m, unsigned who, unsigned place, uint8_t value,
			      bool release)
{
	if (m->count[who] == MEMORY_DEPTH)
		return false;
	m->buffer[who][m->count[who]++] =
		(struct memory_buffered){(uint8_t)place, value, release, m->group[who]};
	return true;
}

static inline bool memory_store(struct memory *m, unsigned who, unsigned place, uint8_t value)
{
	return memory_put(m, who, place, value, false);
}

static inline bool memory_store_release(struct memory *m, unsigned who, unsigned place,
					uint8_t value)
{
	return memory_put(m, who, place, value, true);
}

static inline void memory_fence_release(struct memory *m, unsigned who)
{
	if (m->count[who])
		m->group[who]++;
}

static inline bool memory_may_leave(const struct memory *m, unsigned who, unsigned k)
{
	const struct memory_buffered *b = m->buffer[who];
	unsigned i;

	if (k >= m->count[who] || (k && (memory_model == MEMORY_TSO || b[k].release)))
		return false;
	for (i = 0; i < k; i++)
		if (b[i].place == b[k].place || b[i].group < b[k].group)
			return false;
	return true;
}

/* One step of a flusher: one store leaves the buffer. False: none can. */
static inline bool memory_flush(struct memory *m, unsigned flusher)
{
	unsigned who = flusher / MEMORY_DEPTH, k = flusher % MEMORY_DEPTH;
	struct memory_buffered *b = m->buffer[who];

	if (!memory_may_leave(m, who, k))
		return false;
	m->at[b[k].place] = b[k].value;
	memmove(b + k, b + k + 1, (MEMORY_DEPTH - 1 - k) * sizeof *b);
	memset(b + MEMORY_DEPTH - 1, 0, sizeof *b);
	if (--m->count[who] == 0)
		m->group[who] = 0;
	return true;
}

/* Flush the whole buffer: what membarrier(2) does to the others. */
static inline void memory_drain(struct memory *m, unsigned who)
{
	unsigned i;

	for (i = 0; i < m->count[who]; i++)
		m->at[m->buffer[who][i].place] = m->buffer[who][i].value;
	memset(m->buffer[who], 0, sizeof m->buffer[who]);
	m->count[who] = m->group[who] = 0;
}

/* A read-modify-write, by an actor whose buffer is empty. */
static inline uint8_t memory_swap(struct memory *m, unsigned place, uint8_t value)
{
	uint8_t before = m->at[place];

	m->at[place] = value;
	return before;
}

static inline bool memory_cas(struct memory *m, unsigned place, uint8_t expected, uint8_t value)
{
	if (m->at[place] != expected)
		return false;
	m->at[place] = value;
	return true;
}

#endif
