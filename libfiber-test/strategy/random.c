/* SPDX-License-Identifier: MIT */
/* random.c - each alternative is as likely as the others, but for time and faults (other.c) */
#include "base/rand.h"
#include "strategy/strategy.h"

static uint64_t state;

static void begin(unsigned depth, uint64_t seed, uint64_t number)
{
	(void)depth;
	state = fib_strategy_seed(seed, number, 1);
}

static unsigned choose(const struct fib_choice *choice)
{
	if (choice->kind != FIB_CHOICE_RUN)
		return fib_strategy_other(choice, &state);
	return fib_rand_below(&state, choice->n);
}

const struct fib_strategy fib_strategy_random = {"random", begin, choose, NULL, false};
