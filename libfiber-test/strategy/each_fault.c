/* SPDX-License-Identifier: MIT */
/*
 * each_fault.c - no fault, then the first place fails, the second, ...
 *
 * Alone, fibers take turns in the simplest order, so that the places are the same each time but for
 * what a fault changes, and the strategy ends with the first schedule that has fewer places. In a
 * list the places are gone through again and again, from the second round on in a random order of
 * fibers.
 */
#include "base/rand.h"
#include "strategy/strategy.h"

static struct {
	uint64_t state;
	uint64_t target; /* 0: none; else the way to fail, counted from 1 */
	uint64_t passed;
	bool random;
} each;

static void begin(unsigned alone, uint64_t seed, uint64_t number)
{
	const uint64_t round = fib_learnt_faults() + UINT64_C(1);

	each.state = fib_strategy_seed(seed, number, 7);
	each.target = alone ? number - 1 : (number - 1) % round;
	each.random = !alone && number > round;
	each.passed = 0;
}

static unsigned choose_fault(unsigned ways)
{
	const uint64_t before = each.passed;

	each.passed += ways;
	if (each.target <= before || each.target > each.passed)
		return 0;
	return (unsigned)(each.target - before);
}

static unsigned choose(const struct fib_choice *choice)
{
	if (choice->kind == FIB_CHOICE_FAULT)
		return choose_fault(choice->n - 1);
	if (!each.random)
		return 0;
	return choice->kind == FIB_CHOICE_RUN ? fib_rand_below(&each.state, choice->n)
					      : fib_strategy_other(choice, &each.state);
}

/* The schedule had the place: the first one has any, a later one took a fault. */
static bool end(const struct fib_step *steps, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (steps[i].kind == FIB_CHOICE_FAULT && (!each.target || steps[i].chosen))
			return true;
	return false;
}

const struct fib_strategy fib_strategy_each_fault = {"each-fault", begin, choose, end, false};
