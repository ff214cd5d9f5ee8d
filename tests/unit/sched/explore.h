/* SPDX-License-Identifier: MIT */
/*
 * explore.h - explore every interleaving of a few actors, one step at a time
 *
 * A model is a small struct with everything that the actors share and remember, and a function that
 * makes one step of one actor: one access to shared state. The search is breadth first over all
 * reachable states, and looks at each once; so the first error found has the shortest way to it.
 *
 * All actors agree on one order of the steps. Where an argument rests on a fence or on a release,
 * the model's stores go through memory.h, which delays and reorders them. Elsewhere a missing fence
 * is modelled as the two accesses in the other order.
 */
#ifndef UNIT_SCHED_EXPLORE_H
#define UNIT_SCHED_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct explore {
	size_t size; /* of a state; no padding, or padding that is always zero */
	unsigned actors;
	/* Make one step of the actor. Return false and change nothing if it has ended or must
	 * wait. */
	bool (*step)(void *state, unsigned actor);
	/* Return what is wrong with the state, or NULL. final: no actor can make a step. */
	const char *(*wrong)(const void *state, bool final);
	/* Results: */
	size_t states, finals;
	const char *found; /* NULL: nothing is ever wrong */
	char way[256];	   /* the actors' numbers, in the order of their steps */
};

struct explore_node {
	uint32_t from;
	uint8_t actor;
};

struct explore_space {
	const struct explore *e;
	unsigned char *states;
	struct explore_node *nodes;
	uint32_t *table; /* index + 1 of a state; open addressing; twice as large as room */
	size_t count, room;
};

static inline uint64_t explore_hash(const unsigned char *p, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);

	while (n--)
		h = (h ^ *p++) * UINT64_C(1099511628211);
	return h ^ h >> 29;
}

static inline uint32_t *explore_slot(struct explore_space *x, const unsigned char *state)
{
	const size_t size = x->e->size, mask = x->room * 2 - 1;
	size_t i = explore_hash(state, size) & mask;

	while (x->table[i] && memcmp(x->states + (x->table[i] - 1) * size, state, size))
		i = (i + 1) & mask;
	return &x->table[i];
}

static inline void explore_grow(struct explore_space *x)
{
	unsigned char *states = x->states;
	size_t i;

	x->room = x->room ? x->room * 2 : 4096;
	x->states = calloc(x->room, x->e->size);
	x->nodes = realloc(x->nodes, x->room * sizeof *x->nodes);
	free(x->table);
	x->table = calloc(x->room * 2, sizeof *x->table);
	if (!x->states || !x->nodes || !x->table)
		abort();
	if (states)
		memcpy(x->states, states, x->count * x->e->size);
	free(states);
	for (i = 0; i < x->count; i++)
		*explore_slot(x, x->states + i * x->e->size) = (uint32_t)i + 1;
}

static inline void explore_add(struct explore_space *x, const unsigned char *state, uint32_t from,
			       unsigned actor)
{
	uint32_t *slot;

	if (x->count == x->room)
		explore_grow(x);
	slot = explore_slot(x, state);
	if (*slot)
		return;
	memcpy(x->states + x->count * x->e->size, state, x->e->size);
	x->nodes[x->count] = (struct explore_node){from, (uint8_t)actor};
	*slot = (uint32_t)++x->count;
}

static inline void explore_tell(struct explore *e, const struct explore_space *x, size_t at)
{
	size_t length = 0, i;

	for (i = at; i; i = x->nodes[i].from)
		length++;
	if (length >= sizeof e->way)
		length = sizeof e->way - 1;
	e->way[length] = 0;
	for (i = at; length; i = x->nodes[i].from)
		e->way[--length] = (char)('0' + x->nodes[i].actor);
}

/* Explore from *first until an error is found or every state has been seen. */
static inline void explore(struct explore *e, const void *first)
{
	struct explore_space x = {.e = e};
	unsigned char *next = calloc(1, e->size);
	size_t at;
	unsigned actor;

	if (!next)
		abort();
	e->found = NULL;
	e->finals = 0;
	explore_add(&x, first, 0, 0);
	for (at = 0; at < x.count && !e->found; at++) {
		bool final = true;

		for (actor = 0; actor < e->actors; actor++) {
			memcpy(next, x.states + at * e->size, e->size);
			if (!e->step(next, actor))
				continue;
			final = false;
			explore_add(&x, next, (uint32_t)at, actor);
		}
		e->finals += final;
		e->found = e->wrong(x.states + at * e->size, final);
		if (e->found)
			explore_tell(e, &x, at);
	}
	e->states = x.count;
	free(next);
	free(x.states);
	free(x.nodes);
	free(x.table);
}

#endif
