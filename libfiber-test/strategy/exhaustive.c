/* SPDX-License-Identifier: MIT */
/*
 * exhaustive.c - every schedule, depth first
 *
 * The choices of the last schedule are a path in the tree of all schedules. The next schedule
 * repeats the path up to its last choice with an alternative left, takes that, and then the first
 * alternative of every later choice. A preemption is a choice of another fiber where the running one
 * could go on; subtrees with more of them than the limit are left out.
 *
 * `bound` is the same with the limits 0, 1, 2, ... (Musuvathi and Qadeer, "Iterative Context
 * Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007), until a limit leaves
 * nothing out. Of a limit's schedules only those with exactly that many preemptions are new, but the
 * others are run again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "strategy/sleep_sets.h"
#include "strategy/strategy.h"

struct tree {
	struct fib_step *path; /* to repeat */
	unsigned length, room;
	unsigned limit; /* preemptions */
	bool left_out;	/* a subtree, because of the limit */
	unsigned at;	/* choices made in this schedule */
	unsigned spent; /* preemptions in this schedule */
	bool started;
};

static struct tree all, bounded;
static unsigned exhaustive_limit = UINT32_MAX;

void fib_exhaustive_limit(unsigned preemptions)
{
	exhaustive_limit = preemptions ? preemptions : UINT32_MAX;
}

uint32_t fib_exhaustive_save(void)
{
	return bounded.limit << 1 | bounded.left_out;
}

void fib_exhaustive_restore(uint32_t saved)
{
	bounded.limit = saved >> 1;
	bounded.left_out = saved & 1;
}

static bool preempts(const struct fib_step *step)
{
	return step->kind == FIB_CHOICE_RUN && step->goes_on && step->chosen;
}

static void start(struct tree *t)
{
	t->at = t->spent = 0;
}

static unsigned choose_in(struct tree *t, const struct fib_choice *choice)
{
	unsigned chosen = t->at < t->length ? t->path[t->at].chosen : 0;
	const struct fib_step step = {(uint8_t)choice->kind, choice->goes_on, (uint16_t)choice->n,
				      (uint16_t)chosen};

	t->spent += preempts(&step);
	t->at++;
	return chosen;
}

/* Take the next path. False: there is none. */
static bool advance(struct tree *t, const struct fib_step *steps, unsigned n)
{
	unsigned spent = 0, i, last = n;

	if (n > t->room) {
		t->room = n * 2;
		t->path = realloc(t->path, t->room * sizeof *t->path);
		fib_check(t->path);
	}
	memcpy(t->path, steps, n * sizeof *steps);
	for (i = 0; i < n; i++) {
		struct fib_step next = steps[i];

		next.chosen++;
		if (next.chosen < next.n) {
			if (spent + preempts(&next) <= t->limit)
				last = i;
			else
				t->left_out = true;
		}
		spent += preempts(&steps[i]);
	}
	if (last == n)
		return false;
	t->path[last].chosen++;
	t->length = last + 1;
	return true;
}

/*
 * Each node shares its part of the tree out equally among its alternatives, as Knuth does
 * ("Estimating the Efficiency of Backtrack Programs", 1975). What is left of the path was run.
 */
double fib_exhaustive_done(void)
{
	double part = 1, done = 0;
	unsigned i, n, spent = 0;

	if (fib_sleep_sets_used())
		return fib_sleep_sets_done();
	for (i = 0; i < all.length; i++) {
		const struct fib_step *step = &all.path[i];

		n = step->kind == FIB_CHOICE_RUN && step->goes_on && spent >= all.limit ? 1
											: step->n;
		part /= n;
		done += part * step->chosen;
		spent += preempts(step);
	}
	return done;
}

static void begin(unsigned depth, uint64_t seed, uint64_t number)
{
	(void)depth;
	(void)seed;
	if (fib_sleep_sets_used()) {
		fib_sleep_sets_begin(number);
		return;
	}
	if (number == 1) {
		all.length = 0;
		all.limit = exhaustive_limit;
	}
	start(&all);
}

static unsigned choose(const struct fib_choice *choice)
{
	return fib_sleep_sets_used() ? fib_sleep_sets_choose(choice) : choose_in(&all, choice);
}

static bool end(const struct fib_step *steps, unsigned n)
{
	return fib_sleep_sets_used() ? fib_sleep_sets_end(steps, n) : advance(&all, steps, n);
}

static void begin_bounded(unsigned depth, uint64_t seed, uint64_t number)
{
	(void)depth;
	(void)seed;
	if (number == 1) {
		bounded.length = bounded.limit = 0;
		bounded.left_out = false;
	}
	start(&bounded);
}

static unsigned choose_bounded(const struct fib_choice *choice)
{
	return choose_in(&bounded, choice);
}

static bool end_bounded(const struct fib_step *steps, unsigned n)
{
	if (advance(&bounded, steps, n))
		return true;
	if (!bounded.left_out)
		return false;
	bounded.limit++;
	bounded.length = 0;
	bounded.left_out = false;
	return true;
}

const struct fib_strategy fib_strategy_exhaustive = {"exhaustive", begin, choose, end, true};
const struct fib_strategy fib_strategy_bound = {"bound", begin_bounded, choose_bounded, end_bounded,
						true};
