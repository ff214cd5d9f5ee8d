/* SPDX-License-Identifier: MIT */
/* clocks.c - vector clocks that grow with the number of slots */
#include "memory/clocks.h"

#include <stddef.h>
#include <string.h>

#include "memory/arena.h"

#define ROOM_LEAST 6u

static struct fib_clock *new_clock(uint32_t n)
{
	const uint32_t room = n < ROOM_LEAST ? ROOM_LEAST : n + n / 2;
	struct fib_clock *clock = fib_arena_take(sizeof *clock + room * sizeof clock->at[0]);

	clock->n = n;
	clock->room = room;
	return clock;
}

/* Give it at least n entries. */
static void widen(struct fib_clock **clock, uint32_t n)
{
	struct fib_clock *old = *clock;
	const uint32_t had = old ? old->n : 0;
	uint32_t i;

	if (had >= n)
		return;
	if (!old || old->room < n) {
		*clock = new_clock(n);
		for (i = 0; i < had; i++)
			(*clock)->at[i] = old->at[i];
	}
	for (i = had; i < n; i++)
		(*clock)->at[i] = 0;
	(*clock)->n = n;
}

void fib_clock_set(struct fib_clock **clock, uint32_t slot, uint32_t value)
{
	widen(clock, slot + 1);
	(*clock)->at[slot] = value;
}

void fib_clock_join(struct fib_clock **to, const struct fib_clock *from)
{
	uint32_t i;

	if (!from)
		return;
	widen(to, from->n);
	for (i = 0; i < from->n; i++)
		if ((*to)->at[i] < from->at[i])
			(*to)->at[i] = from->at[i];
}

struct fib_clock *fib_clock_copy(const struct fib_clock *from)
{
	struct fib_clock *copy = NULL;

	fib_clock_join(&copy, from);
	return copy;
}
