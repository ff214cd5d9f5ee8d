/* SPDX-License-Identifier: MIT */
/*
 * other.c - choices that are not of a fiber
 *
 * Time moves on in one of TIME_ONE_IN choices. A fault happens with such a probability that each
 * place for one, and none at all, are equally likely; how many places there are is learnt from the
 * first schedule.
 */
#include "base/rand.h"
#include "strategy/strategy.h"

#define TIME_ONE_IN 16u

static unsigned passed; /* ways to fail so far in this schedule */

void fib_strategy_other_begin(void)
{
	passed = 0;
}

static unsigned choose_fault(unsigned ways, uint64_t *state)
{
	const unsigned all = fib_learnt_faults(), before = passed;
	const unsigned left = all > before + ways ? all - before : ways;

	passed += ways;
	return fib_rand_below(state, left + 1) < ways ? 1 + fib_rand_below(state, ways) : 0;
}

unsigned fib_strategy_other(const struct fib_choice *choice, uint64_t *state)
{
	switch (choice->kind) {
	case FIB_CHOICE_TIME:
		return fib_rand_below(state, TIME_ONE_IN) == 0;
	case FIB_CHOICE_FAULT:
		return choose_fault(choice->n - 1, state);
	default:
		return fib_rand_below(state, choice->n);
	}
}
