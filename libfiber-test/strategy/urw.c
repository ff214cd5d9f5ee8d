/* SPDX-License-Identifier: MIT */
/*
 * urw.c - uniform random walk
 *
 * Zhao, Wolff, Mathur and Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025. A
 * fiber is chosen with a probability proportional to the calls that it has left, so that each
 * complete interleaving of independent fibers is equally likely. How many calls a fiber makes is
 * learnt from the first schedule.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "strategy/strategy.h"

static struct {
	uint64_t state;
	unsigned *done; /* calls, by number */
	uint32_t room;
} urw;

static void begin(unsigned depth, uint64_t seed, uint64_t number)
{
	uint32_t i;

	(void)depth;
	urw.state = fib_strategy_seed(seed, number, 6);
	for (i = 0; i < urw.room; i++)
		urw.done[i] = 0;
}

static unsigned *done_by(uint32_t number)
{
	uint32_t i;

	if (number >= urw.room) {
		i = urw.room;
		while (urw.room <= number)
			urw.room = urw.room ? 2 * urw.room : 64;
		urw.done = realloc(urw.done, urw.room * sizeof *urw.done);
		fib_check(urw.done);
		for (; i < urw.room; i++)
			urw.done[i] = 0;
	}
	return &urw.done[number];
}

static unsigned choose(const struct fib_choice *choice)
{
	unsigned i, all = 0, at;

	if (choice->kind != FIB_CHOICE_RUN)
		return fib_strategy_other(choice, &urw.state);
	for (i = 0; i < choice->n; i++)
		all += fib_learnt_left(choice->numbers[i], *done_by(choice->numbers[i]));
	at = fib_rand_below(&urw.state, all);
	for (i = 0;; i++) {
		const unsigned left =
			fib_learnt_left(choice->numbers[i], *done_by(choice->numbers[i]));

		if (at < left || i + 1 == choice->n)
			break;
		at -= left;
	}
	++*done_by(choice->numbers[i]);
	return i;
}

const struct fib_strategy fib_strategy_urw = {"urw", begin, choose, NULL, false};
