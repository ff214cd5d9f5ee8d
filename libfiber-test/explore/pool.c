/* SPDX-License-Identifier: MIT */
/*
 * pool.c - share out schedules to workers, and catch what they find
 *
 * Schedules are shared out by their numbers. A worker that has a finding lets the others go on up to
 * the number of its schedule, so the finding that is reported has the lowest number, however many
 * workers there are. When the exploration goes on after a finding, a new process continues with the
 * worker's next number, because the schedule has left its fibers behind in the old one.
 */
#include "explore/pool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "explore/interrupt.h"
#include "explore/progress.h"
#include "os/virtual.h"
#include "strategy/sleep_sets.h"

/* -- findings -- */

static void add_totals(struct fib_pool *pool, const struct fib_shared *shared)
{
	pool->schedules += fib_load(&shared->schedules);
	pool->drops += fib_load(&shared->drops);
	if (fib_load(&shared->dropped) && !fib_load(&shared->learning))
		pool->drops++;
	pool->reached |= fib_load(&shared->reached);
	pool->hash += fib_load(&shared->hash);
	if (fib_load(&shared->error))
		pool->error = -(int)fib_load(&shared->error);
	if (fib_load(&shared->longest) > pool->longest)
		pool->longest = fib_load(&shared->longest);
	pool->complete |= fib_load(&shared->complete) != 0;
}

/* Keep the list ordered by number. */
static void insert(struct fib_pool *pool, const struct fib_caught *caught)
{
	unsigned i = pool->distinct;

	if (i == FIB_DISTINCT_MOST) {
		fib_worker_release(&pool->caught[--i].worker);
		pool->distinct--;
	}
	for (; i > 0 && pool->caught[i - 1].number > caught->number; i--)
		pool->caught[i] = pool->caught[i - 1];
	pool->caught[i] = *caught;
	pool->distinct++;
}

/* Takes the worker. */
static void catch_finding(struct fib_pool *pool, const struct fib_worker *worker)
{
	struct fib_caught new = {*worker, fib_load(&worker->shared->running), 1};
	struct fib_caught *old;
	unsigned i;

	for (i = 0; i < pool->distinct; i++) {
		old = &pool->caught[i];
		if (!fib_finding_same(old->worker.shared, new.worker.shared))
			continue;
		old->times++;
		if (old->number <= new.number) {
			fib_worker_release(&new.worker);
			return;
		}
		new.times = old->times;
		fib_worker_release(&old->worker);
		memmove(old, old + 1, (--pool->distinct - i) * sizeof *old);
		break;
	}
	if (pool->distinct == FIB_DISTINCT_MOST && pool->caught[i - 1].number < new.number)
		fib_worker_release(&new.worker);
	else
		insert(pool, &new);
}

/* -- workers -- */

/*
 * Leave out orders only if all that fibers share is declared, and only of a whole search: below a
 * limit of preemptions or faults, an order that is kept may be beyond the limit where one that is left
 * out is not.
 */
static bool may_reduce(const struct fiber_test_options *o)
{
	return o->flags & FIBER_TEST_DECLARED && strcmp(o->strategy, "exhaustive") == 0 &&
	       !o->preemptions && !o->faults;
}

static int start(struct fib_pool *pool, bool keep_going)
{
	const unsigned jobs = pool->test->options->jobs;

	pool->workers = calloc(jobs, sizeof *pool->workers);
	pool->board = mmap(NULL, sizeof *pool->board, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!pool->workers || pool->board == MAP_FAILED ||
	    fib_sleep_sets_use(may_reduce(pool->test->options)) < 0)
		return -ENOMEM;
	fib_store(&pool->board->lowest, UINT64_MAX);
	pool->board->keep_going = keep_going;
	while (pool->error == 0 && pool->count < jobs) {
		pool->error = fib_worker_explore(pool->test, pool->board, pool->count + 1, jobs,
						 NULL, &pool->workers[pool->count]);
		pool->count += pool->error == 0;
	}
	return pool->error;
}

/* Start a worker that goes on after one that has ended with a finding or a dropped schedule. */
static struct fib_worker go_on(struct fib_pool *pool, const struct fib_worker *old)
{
	const struct fiber_test_options *o = pool->test->options;
	const struct fib_shared *shared = old->shared;
	const uint64_t number =
		fib_load(&shared->learning) ? old->from : fib_load(&shared->running) + o->jobs;
	struct fib_worker new = FIB_WORKER_NONE;
	int rc;

	/* A first schedule that differs when it is repeated says nothing about the others. */
	if (fib_load(&shared->found) &&
	    (shared->verdict == FIBER_TEST_DIVERGED || number > o->schedules))
		return new;
	rc = fib_worker_explore(pool->test, pool->board, number, o->jobs, shared, &new);
	if (rc < 0)
		pool->error = rc;
	return new;
}

/* One worker has ended. */
static void treat_end(struct fib_pool *pool, struct fib_worker *worker, bool over)
{
	struct fib_worker old = *worker;
	const struct fib_shared *shared = old.shared;
	const uint64_t number = fib_load(&shared->running);
	const bool found = fib_load(&shared->found), dropped = fib_load(&shared->dropped);

	*worker = FIB_WORKER_NONE;
	add_totals(pool, shared);
	if (dropped)
		fib_store(&pool->board->drops, true);
	/* A worker that was killed could not publish its number itself. */
	if (found && !pool->board->keep_going && number < fib_load(&pool->board->lowest))
		fib_store(&pool->board->lowest, number);
	if (!over && (found ? pool->board->keep_going : dropped))
		*worker = go_on(pool, &old);
	if (found)
		catch_finding(pool, &old);
	else
		fib_worker_release(&old);
}

/* Look at each worker. Returns how many are left. */
static unsigned look(struct fib_pool *pool, bool over)
{
	const struct fiber_test_options *o = pool->test->options;
	unsigned i, left = 0;

	for (i = 0; i < pool->count; i++) {
		struct fib_worker *w = &pool->workers[i];

		if (w->shared && fib_worker_ended(w, o->hang_limit, over))
			treat_end(pool, w, over);
		left += w->shared != NULL;
	}
	return left;
}

/* Dropped ones included. */
static uint64_t schedules_so_far(const struct fib_pool *pool)
{
	uint64_t sum = pool->schedules + pool->drops;
	unsigned i;

	for (i = 0; i < pool->count; i++)
		if (pool->workers[i].shared)
			sum += fib_load(&pool->workers[i].shared->schedules) +
			       fib_load(&pool->workers[i].shared->drops);
	return sum;
}

/* From 0 to 1; 0: not known. */
static double explored_so_far(const struct fib_pool *pool)
{
	uint64_t most = 0;
	unsigned i;

	for (i = 0; i < pool->count; i++)
		if (pool->workers[i].shared && fib_load(&pool->workers[i].shared->explored) > most)
			most = fib_load(&pool->workers[i].shared->explored);
	return (double)most / (double)FIB_EXPLORED_ALL;
}

static void pause_for_any(const struct fib_pool *pool)
{
	struct pollfd fds[256];
	unsigned i, n = 0;
	int limit = FIB_LOOK_MS;

	for (i = 0; i < pool->count; i++) {
		if (!pool->workers[i].shared)
			continue;
		if (pool->workers[i].pidfd < 0)
			limit = 1; /* an old kernel: the end is found by looking */
		else
			fds[n++] = (struct pollfd){pool->workers[i].pidfd, POLLIN, 0};
	}
	poll(fds, n, limit);
}

/* Stop all; the first one that runs a schedule is remembered. */
static void interrupt(struct fib_pool *pool)
{
	unsigned i;

	for (i = 0; i < pool->count; i++) {
		struct fib_worker *w = &pool->workers[i];

		if (!w->shared)
			continue;
		fib_worker_ended(w, -1, true);
		add_totals(pool, w->shared);
		if (!pool->running) {
			pool->running = w->shared;
			w->shared = NULL;
		}
		fib_worker_release(w);
		*w = FIB_WORKER_NONE;
	}
}

void fib_pool_run(struct fib_pool *pool, const struct fib_test *test, bool keep_going)
{
	const int64_t limit = test->options->time_limit;
	const int64_t end = limit < 0 ? INT64_MAX : fib_virtual_real() + limit;
	struct fib_progress progress;

	*pool = (struct fib_pool){.test = test};
	pool->error = start(pool, keep_going);
	if (pool->error < 0) {
		interrupt(pool);
		return;
	}
	fib_progress_begin(&progress, test->options);
	while (look(pool, fib_virtual_real() >= end)) {
		pool->signal = fib_interrupted();
		if (pool->signal) {
			interrupt(pool);
			break;
		}
		fib_progress_show(&progress, schedules_so_far(pool), explored_so_far(pool),
				  pool->distinct);
		pause_for_any(pool);
	}
	fib_progress_end(&progress);
}

void fib_pool_free(struct fib_pool *pool)
{
	unsigned i;

	for (i = 0; i < pool->distinct; i++)
		fib_worker_release(&pool->caught[i].worker);
	fib_shared_free(pool->running);
	free(pool->workers);
	if (pool->board && pool->board != MAP_FAILED)
		munmap(pool->board, sizeof *pool->board);
}
