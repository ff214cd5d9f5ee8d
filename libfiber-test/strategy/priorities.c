/* SPDX-License-Identifier: MIT */
/* priorities.c - priorities of fibers, for pct.c and pos.c */
#include "strategy/priorities.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"

static struct {
	uint64_t state;
	uint64_t *of; /* by number; 0: not drawn */
	uint32_t room, used;
} p;

void fib_priorities_begin(uint64_t seed)
{
	uint32_t i;

	p.state = seed;
	for (i = 0; i < p.used; i++)
		p.of[i] = 0;
	p.used = 0;
}

/* High, so that those that are set to a low one come after all that are drawn. */
uint64_t fib_priority_draw(void)
{
	return (UINT64_C(1) << 32) + fib_rand(&p.state);
}

static void make_room(uint32_t number)
{
	const uint32_t before = p.room;
	uint32_t i;

	if (number < p.room)
		return;
	while (p.room <= number)
		p.room = p.room ? 2 * p.room : 64;
	p.of = realloc(p.of, p.room * sizeof *p.of);
	fib_check(p.of);
	for (i = before; i < p.room; i++)
		p.of[i] = 0;
}

uint64_t fib_priority(uint32_t number)
{
	make_room(number);
	if (number >= p.used)
		p.used = number + 1;
	if (!p.of[number])
		p.of[number] = fib_priority_draw();
	return p.of[number];
}

void fib_priority_set(uint32_t number, uint64_t priority)
{
	fib_priority(number);
	p.of[number] = priority;
}

unsigned fib_priorities_highest(const struct fib_choice *choice)
{
	unsigned i, best = 0;

	for (i = 1; i < choice->n; i++)
		if (fib_priority(choice->numbers[i]) > fib_priority(choice->numbers[best]))
			best = i;
	return best;
}
