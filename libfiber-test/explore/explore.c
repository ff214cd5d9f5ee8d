/* SPDX-License-Identifier: MIT */
/*
 * explore.c - explore a test: workers, the finding with the lowest number, its token, its report
 *
 * Schedules are shared out to workers by their numbers. A worker that has a finding lets the others
 * go on up to the number of its schedule, so the finding that is reported has the lowest number,
 * however many workers there are.
 */
#include "explore/explore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "explore/minimize.h"
#include "explore/replay.h"
#include "explore/settings.h"
#include "explore/sharing.h"
#include "explore/whole.h"
#include "explore/worker.h"
#include "os/virtual.h"
#include "strategy/strategy.h"

struct exploration {
	struct fib_test test;
	struct fiber_test_options options;
	struct fib_board *board;
	struct fib_worker *workers;
	unsigned count;
	struct fib_worker *found; /* NULL: none */
	struct fib_deviation *deviations;
	unsigned n, before;
	char token[FIB_TOKEN_ROOM];
};

/* -- running -- */

static int start_workers(struct exploration *e)
{
	int rc = 0;

	e->workers = calloc(e->options.jobs, sizeof *e->workers);
	e->board = mmap(NULL, sizeof *e->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (!e->workers || e->board == MAP_FAILED)
		return -ENOMEM;
	fib_store(&e->board->lowest, UINT64_MAX);
	while (rc == 0 && e->count < e->options.jobs) {
		rc = fib_worker_explore(&e->test, e->board, e->count, e->options.jobs,
					&e->workers[e->count]);
		e->count += rc == 0;
	}
	return e->count ? 0 : rc;
}

/* Returns 0, or the error of a worker that could not explore. */
static int await_workers(struct exploration *e)
{
	const int64_t limit = e->options.time_limit;
	const int64_t end = limit < 0 ? INT64_MAX : fib_virtual_real() + limit;
	uint64_t lowest = UINT64_MAX, number;
	int error = 0;
	unsigned i;

	for (i = 0; i < e->count; i++) {
		struct fib_shared *shared = e->workers[i].shared;

		fib_worker_wait(&e->workers[i], e->options.hang_limit, end);
		number = fib_load(&shared->running);
		if (fib_load(&shared->error))
			error = -(int)fib_load(&shared->error);
		if (!fib_load(&shared->found) || number >= lowest)
			continue;
		lowest = number;
		e->found = &e->workers[i];
		/* One that was killed could not say so itself. */
		fib_store(&e->board->lowest, lowest);
	}
	return e->found ? 0 : error;
}

/* -- the finding -- */

static struct fib_deviation *deviations_of(const struct fib_shared *shared, unsigned *ret_n)
{
	const unsigned made = fib_load(&shared->made);
	struct fib_deviation *list = calloc(made + 1, sizeof *list);
	unsigned i;

	*ret_n = 0;
	for (i = 0; list && i < made; i++)
		if (shared->steps[i].chosen)
			list[(*ret_n)++] = (struct fib_deviation){i, shared->steps[i].chosen};
	return list;
}

static void write_token(struct exploration *e)
{
	const struct fiber_test_options *o = &e->options;
	struct fib_token token = {.test = fib_token_test(o->name, o->faults, o->slack, o->steps)};

	token.n = e->n;
	if (e->n <= FIB_DEVIATIONS) {
		memcpy(token.at, e->deviations, e->n * sizeof *token.at);
		if (fib_token_write(&token, e->token))
			return;
	}
	token.numbered = true;
	token.seed = o->seed;
	token.number =
		fib_load(&e->found->shared->learning) ? 0 : fib_load(&e->found->shared->running);
	fib_token_write(&token, e->token);
}

static void fill(const struct exploration *e, struct fiber_test_result *ret)
{
	struct fiber_test_result r = {.size = ret->size};
	unsigned i;

	r.verdict = FIBER_TEST_PASSED;
	for (i = 0; i < e->count; i++) {
		const struct fib_shared *shared = e->workers[i].shared;

		r.schedules += fib_load(&shared->schedules);
		if (fib_load(&shared->longest) > r.choices)
			r.choices = fib_load(&shared->longest);
		if (fib_load(&shared->complete))
			r.verdict = FIBER_TEST_COMPLETE;
	}
	if (e->found) {
		const struct fib_shared *shared = e->found->shared;

		r.verdict = (enum fiber_test_verdict)shared->verdict;
		r.failed = fib_load(&shared->running);
		r.choices = fib_load(&shared->made);
		r.deviations = e->n;
		r.line = shared->line;
		memcpy(r.token, e->token, sizeof r.token);
		memcpy(r.message, shared->message, sizeof r.message);
		memcpy(r.file, shared->file, sizeof r.file);
	}
	memcpy(ret, &r, ret->size < sizeof r ? ret->size : sizeof r);
}

/* Run the schedule once more, for its report. */
static void report_of(struct exploration *e, struct fib_worker *ret)
{
	if (fib_worker_try(&e->test, e->deviations, e->n, true, ret) < 0)
		ret->shared = NULL;
	else
		fib_worker_wait(ret, e->options.hang_limit, INT64_MAX);
}

/* The schedule alone, in a fresh process, ended in another way. */
static void write_not_back(const struct exploration *e, FILE *out)
{
	/* Its message says this already. */
	if (e->found->shared->verdict == FIBER_TEST_DIVERGED)
		return;
	fprintf(out, "this did not happen again in a fresh process: %s\n",
		e->options.flags & FIBER_TEST_ISOLATE
			? "the test reads a clock or an address, or uses a thread"
			: "the test keeps something from one schedule to the next; see "
			  "FIBER_TEST_ISOLATE and `memory`");
}

static char *write_report(struct exploration *e, const char *errors)
{
	const struct fib_shared *found = e->found->shared;
	struct fib_worker w = {NULL, -1, -1, -1};
	char strategy[32], *text = NULL;
	struct fib_strategies s;
	const char *why;
	size_t size;
	FILE *out;

	report_of(e, &w);
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fib_strategies_parse(e->options.strategy, &s, &why);
	if (fib_load(&found->learning))
		snprintf(strategy, sizeof strategy, "random");
	else
		fib_strategies_name(&s, fib_load(&found->running), strategy, sizeof strategy);
	fprintf(out, "fiber-test: %s: %s: %s\n", e->options.name,
		fiber_test_verdict_name((enum fiber_test_verdict)found->verdict), found->message);
	fprintf(out, "fiber-test: replay: FIBER_TEST_REPLAY=%s\n", e->token);
	fprintf(out, "fiber-test: schedule %llu", (unsigned long long)fib_load(&found->running));
	if (e->options.schedules != UINT64_MAX)
		fprintf(out, " of %llu", (unsigned long long)e->options.schedules);
	fprintf(out, " (%s), %u choice%s, %u deviation%s (%u before minimisation)\n", strategy,
		fib_load(&found->made), fib_load(&found->made) == 1 ? "" : "s", e->n,
		e->n == 1 ? "" : "s", e->before);
	if (found->file[0])
		fprintf(out, "%s:%d: %s\n", found->file, found->line, found->message);
	if (w.shared)
		fputs(w.shared->report, out);
	if (w.shared && !fib_finding_same(w.shared, found))
		write_not_back(e, out);
	if (errors && errors[0])
		fprintf(out, "%s:\n%s",
			fib_whole() ? "output of the program" : "stderr of the test", errors);
	fclose(out);
	fib_worker_release(&w);
	return text;
}

static char *treat_finding(struct exploration *e)
{
	char *errors = fib_worker_errors(e->found), *report;

	e->deviations = deviations_of(e->found->shared, &e->n);
	if (!e->deviations) {
		free(errors);
		return NULL;
	}
	e->before = e->n;
	if (!fib_settings()->no_minimize && e->found->shared->verdict != FIBER_TEST_HUNG &&
	    e->found->shared->verdict != FIBER_TEST_DIVERGED)
		fib_minimize(&e->test, e->found->shared, e->deviations, &e->n);
	write_token(e);
	report = write_report(e, errors);
	free(errors);
	return report;
}

static void release(struct exploration *e)
{
	unsigned i;

	for (i = 0; i < e->count; i++)
		fib_worker_release(&e->workers[i]);
	free(e->workers);
	free(e->deviations);
	if (e->board && e->board != MAP_FAILED)
		munmap(e->board, sizeof *e->board);
}

/* Something in `reach` that no schedule reached; NULL: none. */
static const char *never_reached(const struct exploration *e)
{
	const char *const *reach = e->options.reach;
	uint64_t reached = 0;
	unsigned i;

	for (i = 0; i < e->count; i++)
		reached |= fib_load(&e->workers[i].shared->reached);
	for (i = 0; reach && reach[i] && i < 64; i++)
		if (!(reached >> i & 1))
			return reach[i];
	return NULL;
}

/* What the schedules that ended well chose; with a finding it depends on when other workers stopped. */
static void print_hash(const struct exploration *e)
{
	uint64_t hash = 0, schedules = 0;
	unsigned i;

	for (i = 0; i < e->count; i++) {
		hash += fib_load(&e->workers[i].shared->hash);
		schedules += fib_load(&e->workers[i].shared->schedules);
	}
	if (fib_settings()->hash && !e->found)
		fprintf(stderr, "fiber-test: %s: hash %016llx of %llu schedules\n", e->options.name,
			(unsigned long long)hash, (unsigned long long)schedules);
}

const char *fib_explore_why(int error)
{
	if (error == -FIB_NEVER_CALLED)
		return "it never called libfiber";
	return strerror(-error);
}

int fib_explore(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		struct fiber_test_result *ret, char **ret_report, unsigned *ret_before)
{
	struct exploration e = {.test = {fn, arg, &e.options}};
	const char *missed;
	int rc;

	*ret_report = NULL;
	*ret_before = 0;
	fib_settings_read_environment();
	if (fiber_self() || fib_explorer_on())
		return -EPERM;
	rc = fn && ret && ret->size >= sizeof ret->size ? fib_settings_complete(options, &e.options)
							: -EINVAL;
	if (rc < 0)
		return rc;
	if (fib_settings()->replay) {
		fib_replay(&e.test);
		fill(&e, ret);
		return 0;
	}
	fib_sharing_learn(&e.test);
	rc = start_workers(&e);
	if (rc == 0)
		rc = await_workers(&e);
	if (rc == 0) {
		if (e.found)
			*ret_report = treat_finding(&e);
		fill(&e, ret);
		print_hash(&e);
		*ret_before = e.before;
		missed = e.found ? NULL : never_reached(&e);
		if (missed) {
			ret->verdict = FIBER_TEST_UNREACHED;
			snprintf(ret->message, sizeof ret->message, "\"%s\" was never reached",
				 missed);
		}
		rc = e.found || missed;
	}
	release(&e);
	return rc;
}
