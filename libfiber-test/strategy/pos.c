/* SPDX-License-Identifier: MIT */
/*
 * pos.c - partial order sampling
 *
 * Yuan, Yang and Gu, "Partial Order Aware Concurrency Sampling", CAV 2018. Each call that a fiber
 * is about to make has a random priority, and the highest goes first. A fiber draws a new one after
 * its call, and so do fibers that were about to use the same object: the order of two calls that do
 * not touch each other is not sampled twice.
 */
#include "base/rand.h"
#include "strategy/priorities.h"
#include "strategy/strategy.h"

static uint64_t state;

static void begin(unsigned depth, uint64_t seed, uint64_t number)
{
	(void)depth;
	state = fib_strategy_seed(seed, number, 4);
	fib_priorities_begin(fib_strategy_seed(seed, number, 5));
}

static unsigned choose(const struct fib_choice *choice)
{
	const void *object;
	unsigned best, i;

	if (choice->kind != FIB_CHOICE_RUN)
		return fib_strategy_other(choice, &state);
	best = fib_priorities_highest(choice);
	object = fib_explorer_intent(choice->numbers[best])->object;
	for (i = 0; i < choice->n; i++)
		if (i == best ||
		    (object && fib_explorer_intent(choice->numbers[i])->object == object))
			fib_priority_set(choice->numbers[i], fib_priority_draw());
	return best;
}

const struct fib_strategy fib_strategy_pos = {"pos", begin, choose, NULL, false};
