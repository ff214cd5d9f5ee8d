/* SPDX-License-Identifier: MIT */
/* explore.c - explore a test: its options, its schedules, what they found */
#include "explore/explore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "explore/conclude.h"
#include "explore/pool.h"
#include "explore/replay.h"
#include "explore/settings.h"
#include "explore/sharing.h"
#include "libc/linked.h"
#include "os/virtual.h"
#include "text/escape.h"

static const char *const linked[] __attribute__((used)) = {
	&fib_libc_clock,
	&fib_libc_open,
	&fib_libc_random,
	&fib_libc_sleep,
};

void fib_outcome_free(struct fib_outcome *outcome)
{
	unsigned i;

	for (i = 0; i < outcome->count; i++) {
		free(outcome->found[i].report);
		free(outcome->found[i].details);
	}
	free(outcome->found);
	outcome->found = NULL;
	outcome->count = 0;
}

/* Something in `reach` that no schedule reached; NULL: none. */
static const char *never_reached(const struct fib_outcome *o)
{
	unsigned i;

	for (i = 0; o->reach && o->reach[i] && i < 64; i++)
		if (!(o->reached >> i & 1))
			return o->reach[i];
	return NULL;
}

/* Returns 0 or -ENOMEM. */
static int conclude_all(const struct fib_test *test, struct fib_pool *pool, bool all,
			struct fib_outcome *ret)
{
	const unsigned most = !all && pool->distinct ? 1 : pool->distinct;
	int rc = 0;

	ret->found = calloc(most + 1, sizeof *ret->found);
	if (!ret->found)
		return -ENOMEM;
	for (; rc == 0 && ret->count < most; ret->count += rc == 0)
		rc = fib_conclude(test, &pool->caught[ret->count], &ret->found[ret->count]);
	return rc;
}

static void fill(const struct fib_pool *pool, struct fib_outcome *ret)
{
	struct fiber_test_result *r = &ret->result;
	const char *missed;
	bool all_dropped;

	*r = (struct fiber_test_result){.size = sizeof *r};
	if (ret->count)
		*r = ret->found[0].result;
	r->schedules = pool->schedules;
	ret->dropped = pool->drops;
	ret->reached = pool->reached;
	if (ret->count)
		return;
	r->choices = pool->longest;
	r->verdict = pool->complete ? FIBER_TEST_COMPLETE : FIBER_TEST_PASSED;
	if (pool->signal)
		return;
	all_dropped = pool->drops && !pool->schedules;
	missed = never_reached(ret);
	if (all_dropped) {
		r->verdict = FIBER_TEST_UNREACHED;
		snprintf(r->message, sizeof r->message,
			 "fiber_test_assume() dropped every schedule: %llu of %llu",
			 (unsigned long long)pool->drops, (unsigned long long)pool->drops);
	} else if (missed) {
		r->verdict = FIBER_TEST_UNREACHED;
		snprintf(r->message, sizeof r->message, "\"%s\" was never reached", missed);
	}
}

/* What the schedules that ended well chose; with a finding it depends on when other workers stopped. */
static void print_hash(const struct fib_pool *pool, const char *name)
{
	if (!fib_settings()->hash || pool->distinct)
		return;
	fputs("fiber-test: ", stderr);
	fib_put_plain(stderr, name);
	fprintf(stderr, ": hash %016llx of %llu schedules\n", (unsigned long long)pool->hash,
		(unsigned long long)pool->schedules);
}

const char *fib_explore_why(int error)
{
	if (error == -FIB_NEVER_CALLED)
		return "it never called libfiber";
	return strerror(-error);
}

static int explore(const struct fib_test *test, struct fib_outcome *ret)
{
	const bool keep_going = test->options->flags & FIBER_TEST_KEEP_GOING;
	struct fib_pool pool;
	int rc;

	fib_pool_run(&pool, test, keep_going);
	rc = conclude_all(test, &pool, keep_going, ret);
	fill(&pool, ret);
	ret->signal = pool.signal;
	if (pool.running)
		fib_conclude_running(test, pool.running, ret->running);
	if (rc == 0 && !ret->count)
		rc = pool.error;
	if (rc == 0)
		print_hash(&pool, ret->name);
	fib_pool_free(&pool);
	if (rc < 0)
		return rc;
	return ret->signal ? -EINTR : ret->count || ret->result.verdict == FIBER_TEST_UNREACHED;
}

int fib_explore(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		struct fib_outcome *ret)
{
	struct fiber_test_options complete;
	const struct fib_test test = {fn, arg, &complete};
	const int64_t start = fib_virtual_real();
	int rc;

	*ret = (struct fib_outcome){.name = options && options->name ? options->name : "test"};
	fib_settings_read_environment();
	if (fiber_self() || fib_explorer_on())
		return ret->error = -EPERM;
	rc = fn ? fib_settings_complete(options, &complete) : -EINVAL;
	if (rc < 0)
		return ret->error = rc;
	ret->strategy = complete.strategy;
	ret->seed = complete.seed;
	ret->limit = complete.schedules;
	ret->reach = complete.reach;
	if (fib_settings()->replay) {
		fib_replay(&test);
		return 0;
	}
	fib_sharing_learn(&test);
	rc = explore(&test, ret);
	ret->error = rc < 0 && rc != -EINTR ? rc : 0;
	ret->duration = fib_virtual_real() - start;
	return rc;
}
