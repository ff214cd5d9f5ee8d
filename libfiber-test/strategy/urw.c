/* SPDX-License-Identifier: MIT */
/*
 * urw.c - uniform random walk
 *
 * Zhao, Wolff, Mathur and Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025. A
 * fiber is chosen with a probability proportional to the steps that wait for it: its own, and those
 * of the fibers that it has not spawned yet and that they spawn. As steps are then ordered by a
 * forest, each complete interleaving is equally likely, as long as no fiber waits for another. How
 * many steps fibers make is learnt from the first schedule.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "strategy/strategy.h"

static struct {
	uint64_t state;
	unsigned *unborn; /* by number: steps of the fibers that it has not spawned yet */
	uint32_t room, made;
} urw;

static void make_room(uint32_t numbers)
{
	if (numbers < urw.room)
		return;
	urw.room = numbers + 1;
	urw.unborn = realloc(urw.unborn, urw.room * sizeof *urw.unborn);
	fib_check(urw.unborn);
}

static void begin(unsigned depth, uint64_t seed, uint64_t number)
{
	uint32_t i;

	(void)depth;
	urw.state = fib_strategy_seed(seed, number, 6);
	urw.made = 0;
	make_room(fib_learnt_fibers());
	for (i = 0; i < urw.room; i++)
		urw.unborn[i] = fib_learnt_subtree(i) - fib_learnt_steps(i);
}

static void take_spawned(void)
{
	uint32_t parent;
	unsigned less;

	while (urw.made < fib_explorer_fibers()) {
		urw.made++;
		parent = fib_learnt_parent(urw.made);
		less = fib_learnt_subtree(urw.made);
		if (parent)
			urw.unborn[parent] -= less < urw.unborn[parent] ? less : urw.unborn[parent];
	}
}

/* At least 1: every fiber can be chosen. */
static unsigned weight_of(uint32_t number)
{
	const unsigned steps = fib_learnt_steps(number), done = fib_explorer_steps(number);
	const unsigned left =
		(steps > done ? steps - done : 0) + (number < urw.room ? urw.unborn[number] : 0);

	return left ? left : 1;
}

static unsigned choose(const struct fib_choice *choice)
{
	unsigned i, all = 0, at, weight;

	if (choice->kind != FIB_CHOICE_RUN)
		return fib_strategy_other(choice, &urw.state);
	take_spawned();
	for (i = 0; i < choice->n; i++)
		all += weight_of(choice->numbers[i]);
	at = fib_rand_below(&urw.state, all);
	for (i = 0; i + 1 < choice->n; i++) {
		weight = weight_of(choice->numbers[i]);
		if (at < weight)
			break;
		at -= weight;
	}
	return i;
}

const struct fib_strategy fib_strategy_urw = {"urw", begin, choose, NULL, false};
