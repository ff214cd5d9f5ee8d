/* SPDX-License-Identifier: MIT */
/* learn.c - run the first schedule of a test twice */
#include "explore/learn.h"

#include <stdlib.h>
#include <string.h>

#include "strategy/strategy.h"
#include "strategy/touched.h"

/* No schedule that is counted has this number. */
#define NUMBER UINT64_MAX

/* Nothing fails in the first schedule, so that it shows the whole of the test. */
unsigned fib_learn_choose(void *context, const struct fib_choice *choice)
{
	return choice->kind == FIB_CHOICE_FAULT ? 0 : fib_strategies_choose(context, choice);
}

void fib_learn_begin(const struct fib_test *test)
{
	struct fib_strategies random;
	const char *why;

	fib_strategies_parse("random", &random, &why);
	fib_strategies_begin(&random, test->options->seed, NUMBER);
}

void fib_learn(const struct fib_test *test, const struct fib_schedule *schedule, fib_run_fn *run)
{
	struct fib_schedule s = *schedule;
	struct fib_step *first;
	unsigned i, n;

	s.choose = fib_learn_choose;
	s.replays = false;
	s.traced = true;
	fib_explorer_trace(fib_touched_call);
	fib_explorer_count(fib_learnt_step);
	fib_learnt_begin();
	fib_touched_begin();
	fib_learn_begin(test);
	run(test, &s);
	fib_explorer_trace(NULL);
	fib_explorer_count(NULL);
	fib_finding_progress();
	n = fib_load(s.made);
	fib_learnt_end();
	fib_learnt_choices(s.steps, n);
	first = malloc((n + 1) * sizeof *first);
	if (!first)
		fib_finding(FIBER_TEST_FAILED, "out of memory");
	memcpy(first, s.steps, n * sizeof *first);
	fib_learn_begin(test);
	run(test, &s);
	fib_finding_progress();
	for (i = 0; i < n && i < fib_load(s.made); i++)
		if (memcmp(&first[i], &s.steps[i], sizeof *first) != 0)
			break;
	if (i < n || n != fib_load(s.made))
		fib_finding(
			FIBER_TEST_DIVERGED,
			"the first schedule, run twice, differs from choice %u on: the test keeps "
			"something from one schedule to the next, reads a clock or an address, or "
			"uses a thread",
			i + 1);
	free(first);
}
