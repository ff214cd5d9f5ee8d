/* SPDX-License-Identifier: MIT */
/*
 * pct.c - probabilistic concurrency testing
 *
 * Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs", ASPLOS 2010. The fiber with the highest priority runs. At depth - 1
 * choices, drawn from as many as the fibers of the first schedule made steps, the one that would run
 * gets a priority below all others. A bug that needs `depth` ordering constraints among n fibers and
 * k steps is found with a probability of at least 1 / (n k^(depth-1)). A yield lowers no priority.
 */
#include "base/rand.h"
#include "strategy/priorities.h"
#include "strategy/strategy.h"

static struct {
	uint64_t state;
	unsigned change[FIB_DEPTH_MAX];
	unsigned changes, seen;
} pct;

static void begin(unsigned depth, uint64_t seed, uint64_t number)
{
	unsigned i;

	pct.state = fib_strategy_seed(seed, number, 2);
	fib_priorities_begin(fib_strategy_seed(seed, number, 3));
	pct.changes = depth - 1;
	pct.seen = 0;
	for (i = 0; i < pct.changes; i++)
		pct.change[i] = fib_rand_below(&pct.state, fib_learnt_total());
}

static unsigned choose(const struct fib_choice *choice)
{
	unsigned best, i;

	if (choice->kind != FIB_CHOICE_RUN)
		return fib_strategy_other(choice, &pct.state);
	best = fib_priorities_highest(choice);
	for (i = 0; i < pct.changes; i++) {
		if (pct.change[i] != pct.seen)
			continue;
		/* The change drawn last gets the lowest priority. */
		fib_priority_set(choice->numbers[best], pct.changes - i);
		best = fib_priorities_highest(choice);
	}
	pct.seen++;
	return best;
}

const struct fib_strategy fib_strategy_pct = {"pct", begin, choose, NULL, false};
