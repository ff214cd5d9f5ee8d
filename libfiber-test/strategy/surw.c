/* SPDX-License-Identifier: MIT */
/*
 * surw.c - selectively uniform random walk
 *
 * Zhao, Wolff, Mathur and Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025. Each
 * schedule selects one object that several fibers touch. The order of the calls that touch it is
 * sampled uniformly: the fiber that makes the next such call is drawn beforehand, with a probability
 * proportional to such calls that it has left, and other fibers that are about to make one wait
 * until it has. All other calls are interleaved at random.
 */
#include <string.h>

#include "base/rand.h"
#include "strategy/strategy.h"
#include "strategy/touched.h"

#define FIBERS 256u

static struct {
	uint64_t state;
	bool selects;
	uint32_t intended;     /* makes the next call that counts; 0: not drawn */
	unsigned made[FIBERS]; /* such calls, by number */
} surw;

static void begin(unsigned depth, uint64_t seed, uint64_t number)
{
	const unsigned objects = fib_touched_objects();

	(void)depth;
	surw.state = fib_strategy_seed(seed, number, 8);
	surw.selects = objects > 0;
	surw.intended = 0;
	memset(surw.made, 0, sizeof surw.made);
	if (objects)
		fib_touched_select(fib_rand_below(&surw.state, objects));
}

static unsigned left(uint32_t number)
{
	const unsigned all = fib_touched_calls(number);

	return number < FIBERS && all > surw.made[number] ? all - surw.made[number] : 0;
}

/* Fibers that do not exist yet take part: others wait for their calls too. */
static uint32_t draw(void)
{
	unsigned all = 0, at;
	uint32_t i;

	for (i = 1; i < FIBERS; i++)
		all += left(i);
	if (!all)
		return 0;
	at = fib_rand_below(&surw.state, all);
	for (i = 1; at >= left(i); i++)
		at -= left(i);
	return i;
}

static bool counts(uint32_t number)
{
	return fib_touched_by(number);
}

/* Uniformly among those that need not wait for another one; all of them if every one must. */
static unsigned choose_free(const struct fib_choice *choice)
{
	unsigned i, n = 0, at;

	for (i = 0; i < choice->n; i++)
		n += choice->numbers[i] == surw.intended || !counts(choice->numbers[i]);
	if (!n)
		return fib_rand_below(&surw.state, choice->n);
	at = fib_rand_below(&surw.state, n);
	for (i = 0;; i++)
		if ((choice->numbers[i] == surw.intended || !counts(choice->numbers[i])) && !at--)
			return i;
}

static unsigned choose(const struct fib_choice *choice)
{
	unsigned chosen;

	if (choice->kind != FIB_CHOICE_RUN)
		return fib_strategy_other(choice, &surw.state);
	if (!surw.selects)
		return fib_rand_below(&surw.state, choice->n);
	if (!surw.intended)
		surw.intended = draw();
	chosen = choose_free(choice);
	if (counts(choice->numbers[chosen])) {
		if (choice->numbers[chosen] < FIBERS)
			surw.made[choice->numbers[chosen]]++;
		surw.intended = 0;
	}
	return chosen;
}

const struct fib_strategy fib_strategy_surw = {"surw", begin, choose, NULL, false};
