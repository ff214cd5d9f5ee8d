/* SPDX-License-Identifier: MIT */
/* learnt.c - what the first schedule of a test tells about the others */
#include <stdlib.h>

#include "base/check.h"
#include "strategy/strategy.h"

static struct {
	unsigned choices;
	unsigned *calls; /* by number */
	uint32_t room;
} learnt = {.choices = 1};

void fib_learnt_steps(unsigned n)
{
	learnt.choices = n ? n : 1;
}

void fib_learnt_call(uint32_t number)
{
	const uint32_t before = learnt.room;
	uint32_t i;

	if (number >= learnt.room) {
		while (learnt.room <= number)
			learnt.room = learnt.room ? 2 * learnt.room : 64;
		learnt.calls = realloc(learnt.calls, learnt.room * sizeof *learnt.calls);
		fib_check(learnt.calls);
		for (i = before; i < learnt.room; i++)
			learnt.calls[i] = 0;
	}
	learnt.calls[number]++;
}

unsigned fib_learnt_choices(void)
{
	return learnt.choices;
}

unsigned fib_learnt_left(uint32_t number, unsigned done)
{
	return number < learnt.room && learnt.calls[number] > done ? learnt.calls[number] - done
								   : 1;
}
