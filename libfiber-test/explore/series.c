/* SPDX-License-Identifier: MIT */
/*
 * series.c - run the schedules of one worker
 *
 * A worker runs one schedule after another in its own process, or, with FIBER_TEST_ISOLATE, each in
 * a child.
 *
 * A schedule that fiber_test_assume() drops leaves fibers that cannot be unwound, so its process
 * ends. The worker that is started next runs no schedule itself: a child runs them until one is
 * dropped, and then the next child goes on. A dropped schedule costs a fork, but nothing is learnt
 * again. What strategies keep from schedule to schedule is made from the choices of the last one,
 * which are shared.
 */
#include "explore/series.h"

#include <sys/types.h>
#include <unistd.h>

#include "explore/hash.h"
#include "explore/isolate.h"
#include "explore/learn.h"
#include "explore/settings.h"
#include "memory.h"
#include "strategy/strategy.h"

/* Schedules between two estimates of what is left. */
#define ESTIMATE_EACH 64u

struct series {
	const struct fib_test *test;
	struct fib_board *board;
	struct fib_shared *shared;
	struct fib_schedule schedule;
	struct fib_strategies strategies;
	fib_run_fn *run;
	uint64_t number; /* of the next schedule */
	unsigned stride;
	bool more; /* the strategies have a next schedule */
};

struct fib_schedule fib_series_schedule(const struct fib_test *test, struct fib_shared *shared)
{
	return (struct fib_schedule){
		.choose = fib_strategies_choose,
		.steps = shared->steps,
		.made = &shared->made,
		.outside = &shared->outside,
		.step_limit = test->options->steps,
		.slack = test->options->slack,
		.hash = fib_settings()->hash ? &shared->choices : NULL,
	};
}

/*
 * Learn, unless the schedule to learn from has a finding of its own. Where schedules are dropped, it
 * may be one of them, so it runs in a child.
 */
static void learn(const struct series *s, const struct fib_shared *after)
{
	const bool drops = fib_load(&s->board->drops);

	if (after &&
	    (after->unlearnt || (fib_load(&after->learning) && !fib_load(&after->dropped)))) {
		s->shared->unlearnt = true;
		return;
	}
	fib_store(&s->shared->running, 1);
	fib_learn(s->test, &s->schedule, drops ? fib_isolate : s->run, &s->shared->learning);
}

/* The last schedule is over: its choices lead to the next one, if there is one. */
static void advance(struct series *s, const struct fib_shared *last)
{
	const unsigned made = fib_load(&last->made);
	const unsigned fair = fib_explorer_fair_after(s->test->options->steps);

	/* Later choices are random: not all were taken. */
	if (made > fair)
		fib_store(&s->shared->random, 1);
	s->more = fib_strategies_end(&s->strategies, last->steps, made < fair ? made : fair);
	s->shared->any_outside |= fib_load(&last->outside) != 0;
	if (!(fib_load(&s->shared->schedules) % ESTIMATE_EACH))
		fib_store(&s->shared->explored, (uint64_t)(fib_strategies_done(&s->strategies) *
							   (double)FIB_EXPLORED_ALL));
	if (!s->more)
		fib_store(&s->shared->complete,
			  fib_strategies_visit_all(&s->strategies) && fib_memory_complete() &&
				  !s->shared->any_outside && !fib_load(&s->shared->random));
}

/* Go on behind a schedule that another process has run. */
static void resume(struct series *s, const struct fib_shared *last)
{
	fib_strategies_begin(&s->strategies, s->test->options->seed, fib_load(&last->running));
	fib_exhaustive_restore(last->tree);
	advance(s, last);
}

static bool goes_on(const struct series *s)
{
	return s->more && s->number <= s->test->options->schedules &&
	       s->number < fib_load(&s->board->lowest);
}

static void count(struct fib_shared *shared)
{
	fib_store(&shared->hash,
		  fib_load(&shared->hash) + fib_hash_schedule(fib_load(&shared->choices),
							      fib_load(&shared->running)));
	if (fib_load(&shared->made) > fib_load(&shared->longest))
		fib_store(&shared->longest, fib_load(&shared->made));
	fib_finding_reached(fib_run_reached());
	fib_store(&shared->schedules, fib_load(&shared->schedules) + 1);
}

static void run_one(struct series *s)
{
	struct fib_shared *shared = s->shared;

	fib_store(&shared->running, s->number);
	if (lseek(STDERR_FILENO, 0, SEEK_CUR) > 0 && ftruncate(STDERR_FILENO, 0) == 0)
		lseek(STDERR_FILENO, 0, SEEK_SET);
	fib_strategies_begin(&s->strategies, s->test->options->seed, s->number);
	shared->tree = fib_exhaustive_save();
	s->run(s->test, &s->schedule);
	if (fib_finding_take_drop())
		fib_store(&shared->drops, fib_load(&shared->drops) + 1);
	else
		count(shared);
	fib_finding_progress();
	s->number += s->stride;
	advance(s, shared);
}

static void run_all(void *series)
{
	struct series *s = series;

	while (goes_on(s))
		run_one(s);
}

/* Each child runs schedules until one is dropped. */
static void run_in_children(struct series *s)
{
	while (goes_on(s)) {
		fib_isolate_call(run_all, s);
		if (!fib_finding_take_drop())
			return;
		fib_store(&s->shared->drops, fib_load(&s->shared->drops) + 1);
		s->number = fib_load(&s->shared->running) + s->stride;
		resume(s, s->shared);
	}
}

_Noreturn void fib_series_run(const struct fib_test *test, struct fib_board *board,
			      struct fib_shared *shared, uint64_t from, unsigned stride,
			      const struct fib_shared *after)
{
	const bool isolated = test->options->flags & FIBER_TEST_ISOLATE;
	struct series s = {
		.test = test,
		.board = board,
		.shared = shared,
		.schedule = fib_series_schedule(test, shared),
		.run = isolated ? fib_isolate : fib_run_schedule,
		.number = from,
		.stride = stride,
		.more = true,
	};
	const char *why;

	fib_strategies_parse(test->options->strategy, &s.strategies, &why);
	fib_exhaustive_limit(test->options->preemptions);
	learn(&s, after);
	/* The first number makes a tree. */
	fib_strategies_begin(&s.strategies, test->options->seed, 1);
	if (after) {
		fib_store(&shared->random, fib_load(&after->random));
		shared->any_outside = after->any_outside;
	}
	if (after && !fib_load(&after->learning))
		resume(&s, after);
	if (fib_load(&board->drops) && !isolated)
		run_in_children(&s);
	else
		run_all(&s);
	_exit(0);
}
