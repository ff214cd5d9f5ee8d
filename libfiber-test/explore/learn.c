/* SPDX-License-Identifier: MIT */
/* learn.c - run the first schedule of a test twice */
#include "explore/learn.h"

#include <stdlib.h>
#include <string.h>

#include "strategy/strategy.h"
#include "strategy/touched.h"

/* No schedule that is counted has this number. */
#define NUMBER UINT64_MAX

/* To find one that fiber_test_assume() does not drop: what a dropped one shows is cut off. */
#define ATTEMPTS 16u

/* Nothing fails in the first schedule, so that it shows the whole of the test. */
unsigned fib_learn_choose(void *context, const struct fib_choice *choice)
{
	return choice->kind == FIB_CHOICE_FAULT ? 0 : fib_strategies_choose(context, choice);
}

void fib_learn_begin(uint64_t seed)
{
	struct fib_strategies random;
	const char *why;

	fib_strategies_parse("random", &random, &why);
	fib_strategies_begin(&random, seed, NUMBER);
}

uint64_t fib_learn_seed(uint64_t seed, unsigned attempt)
{
	return attempt > 1 ? fib_mix(seed + attempt) : seed;
}

/* A difference at choice i, from 0, may come from the outside world. used: when each run used it. */
static bool may_be_outside(unsigned i, const uint32_t used[2])
{
	return (used[0] && i + 1 >= used[0]) || (used[1] && i + 1 >= used[1]);
}

static uint32_t use_of(const struct fib_schedule *s)
{
	return s->outside ? fib_load(s->outside) : 0;
}

/* Run it for the first time: learn. */
static void run_first(const struct fib_test *test, const struct fib_schedule *s, fib_run_fn *run,
		      uint64_t seed)
{
	fib_explorer_trace(fib_touched_call);
	fib_explorer_count(fib_learnt_step);
	fib_learnt_begin();
	fib_touched_begin();
	fib_learn_begin(seed);
	run(test, s);
	fib_explorer_trace(NULL);
	fib_explorer_count(NULL);
	fib_finding_progress();
	fib_learnt_end();
	fib_learnt_choices(s->steps, fib_load(s->made));
}

/* Run it twice. Returns whether it was dropped. */
static bool run_twice(const struct fib_test *test, const struct fib_schedule *s, fib_run_fn *run,
		      uint64_t seed)
{
	struct fib_step *first;
	uint32_t used[2];
	unsigned i, n;
	bool dropped, differs;

	run_first(test, s, run, seed);
	dropped = fib_finding_take_drop();
	used[0] = use_of(s);
	n = fib_load(s->made);
	first = malloc((n + 1) * sizeof *first);
	if (!first)
		fib_finding(FIBER_TEST_FAILED, "out of memory");
	memcpy(first, s->steps, n * sizeof *first);
	fib_learn_begin(seed);
	run(test, s);
	fib_finding_progress();
	for (i = 0; i < n && i < fib_load(s->made); i++)
		if (memcmp(&first[i], &s->steps[i], sizeof *first) != 0)
			break;
	used[1] = use_of(s);
	differs = fib_finding_take_drop() != dropped || i < n || n != fib_load(s->made);
	if (differs && !may_be_outside(i, used))
		fib_finding(
			FIBER_TEST_DIVERGED,
			"the first schedule, run twice, differs from choice %u on: the test keeps "
			"something from one schedule to the next, reads a clock or an address, or "
			"uses a thread",
			i + 1);
	free(first);
	return dropped;
}

void fib_learn(const struct fib_test *test, const struct fib_schedule *schedule, fib_run_fn *run,
	       _Atomic uint32_t *attempt)
{
	struct fib_schedule s = *schedule;
	uint32_t i;

	s.choose = fib_learn_choose;
	s.replays = false;
	s.traced = true;
	for (i = 1; i <= ATTEMPTS; i++) {
		fib_store(attempt, i);
		if (!run_twice(test, &s, run, fib_learn_seed(test->options->seed, i)))
			break;
	}
	fib_store(attempt, 0);
}
