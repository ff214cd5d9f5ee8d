/* SPDX-License-Identifier: MIT */
/* conclude.c - the token and the report of a schedule with a finding */
#include "explore/conclude.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore/learn.h"
#include "explore/minimize.h"
#include "explore/settings.h"
#include "explore/whole.h"
#include "strategy/strategy.h"
#include "text/escape.h"

#define REPORT_HANG INT64_C(10000000000) /* ns */

/* What is known of a schedule while it is treated. */
struct conclusion {
	const struct fib_test *test;
	struct fib_shared *shared;
	struct fib_deviation *deviations;
	unsigned n;
	char *errors; /* of the test on stderr */
};

/* -- the token -- */

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

static void write_token(const struct conclusion *c, char ret[FIB_TOKEN_ROOM])
{
	const struct fiber_test_options *o = c->test->options;
	struct fib_token token = {.test = fib_token_test(o->name, o->faults, o->slack, o->steps)};

	token.n = c->n;
	if (c->n <= FIB_DEVIATIONS) {
		memcpy(token.at, c->deviations, c->n * sizeof *token.at);
		if (fib_token_write(&token, ret))
			return;
	}
	token.numbered = true;
	token.seed = o->seed;
	token.number = fib_load(&c->shared->running);
	if (fib_load(&c->shared->learning)) {
		token.seed = fib_learn_seed(o->seed, fib_load(&c->shared->learning));
		token.number = 0;
	}
	fib_token_write(&token, ret);
}

void fib_conclude_running(const struct fib_test *test, const struct fib_shared *shared,
			  char ret[FIB_TOKEN_ROOM])
{
	struct conclusion c = {.test = test, .shared = (struct fib_shared *)(uintptr_t)shared};

	ret[0] = 0;
	c.deviations = deviations_of(shared, &c.n);
	if (c.deviations)
		write_token(&c, ret);
	free(c.deviations);
}

/* -- texts -- */

/* A whole file; the caller frees it. */
static char *read_all(int fd)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	const size_t n = size < 0 ? 0 : (size_t)size;
	char *text = calloc(1, n + 1);
	ssize_t got = 0;
	size_t at = 0;

	while (text && at < n && (got = pread(fd, text + at, n - at, (off_t)at)) > 0)
		at += (size_t)got;
	return text;
}

static void name_strategy(const struct conclusion *c, char *buf, unsigned size)
{
	struct fib_strategies s;
	const char *why;

	fib_strategies_parse(c->test->options->strategy, &s, &why);
	if (fib_load(&c->shared->learning))
		snprintf(buf, size, "random");
	else
		fib_strategies_name(&s, fib_load(&c->shared->running), buf, size);
}

static void put_first_lines(FILE *out, const struct conclusion *c, const struct fib_found *found)
{
	const struct fiber_test_options *o = c->test->options;
	const struct fiber_test_result *r = &found->result;

	fputs("fiber-test: ", out);
	fib_put_plain(out, o->name);
	fprintf(out, ": %s: ", fiber_test_verdict_name(r->verdict));
	fib_put_plain(out, r->message);
	fprintf(out, "\nfiber-test: replay: FIBER_TEST_REPLAY=%s\n", r->token);
	fprintf(out, "fiber-test: schedule %llu", (unsigned long long)r->failed);
	if (o->schedules != UINT64_MAX)
		fprintf(out, " of %llu", (unsigned long long)o->schedules);
	fprintf(out, " (%s), %u choice%s, %u deviation%s (%u before minimisation)\n",
		found->strategy, r->choices, r->choices == 1 ? "" : "s", r->deviations,
		r->deviations == 1 ? "" : "s", found->before);
	if (o->flags & FIBER_TEST_KEEP_GOING)
		fprintf(out, "found in %llu schedule%s\n", (unsigned long long)found->times,
			found->times == 1 ? "" : "s");
	if (r->file[0]) {
		fib_put_plain(out, r->file);
		fprintf(out, ":%d: ", r->line);
		fib_put_plain(out, r->message);
		fputc('\n', out);
	}
}

/* The schedule alone, in a fresh process, ended in another way. */
static void put_not_back(FILE *out, const struct conclusion *c)
{
	/* Its message says this already. */
	if (c->shared->verdict == FIBER_TEST_DIVERGED)
		return;
	fprintf(out, "this did not happen again in a fresh process: %s\n",
		fib_load(&c->shared->outside) ? "it depends on the outside world"
		: c->test->options->flags & FIBER_TEST_ISOLATE
			? "the test reads a clock or an address, or uses a thread"
			: "the test keeps something from one schedule to the next; see "
			  "FIBER_TEST_ISOLATE and `memory`");
}

/* Run the schedule once more, for its report. */
static void describe(struct conclusion *c, struct fib_found *found)
{
	const int64_t hang = c->test->options->hang_limit;
	struct fib_worker w;
	size_t size;
	FILE *out;

	if (fib_worker_try(c->test, c->deviations, c->n, true, &w) < 0)
		w = FIB_WORKER_NONE;
	else
		fib_worker_wait(&w, hang < 0 || hang > REPORT_HANG ? REPORT_HANG : hang);
	out = open_memstream(&found->report, &size);
	if (out) {
		put_first_lines(out, c, found);
		if (fib_load(&c->shared->outside))
			fputs(FIB_USED_OUTSIDE, out);
		if (w.shared)
			fputs(w.shared->report, out);
		if (w.shared && !fib_finding_same(w.shared, c->shared))
			put_not_back(out, c);
		if (c->errors && c->errors[0]) {
			fputs(fib_whole() ? "output of the program:\n" : "stderr of the test:\n",
			      out);
			fib_put_lines(out, c->errors, "");
		}
		fclose(out);
	}
	if (w.shared && fib_load(&w.shared->detailed))
		found->details = read_all(w.details);
	fib_worker_release(&w);
}

static void fill(const struct conclusion *c, struct fiber_test_result *r)
{
	const struct fib_shared *shared = c->shared;

	*r = (struct fiber_test_result){.size = sizeof *r};
	r->verdict = (enum fiber_test_verdict)shared->verdict;
	r->failed = fib_load(&shared->running);
	r->choices = fib_load(&shared->made);
	r->deviations = c->n;
	r->line = shared->line;
	write_token(c, r->token);
	memcpy(r->message, shared->message, sizeof r->message);
	memcpy(r->file, shared->file, sizeof r->file);
}

int fib_conclude(const struct fib_test *test, struct fib_caught *caught, struct fib_found *ret)
{
	struct conclusion c = {.test = test, .shared = caught->worker.shared};

	*ret = (struct fib_found){.times = caught->times};
	c.deviations = deviations_of(c.shared, &c.n);
	if (!c.deviations)
		return -ENOMEM;
	c.errors = fib_worker_errors(&caught->worker);
	ret->before = c.n;
	if (!fib_settings()->no_minimize && c.shared->verdict != FIBER_TEST_HUNG &&
	    c.shared->verdict != FIBER_TEST_DIVERGED)
		fib_minimize(test, c.shared, c.deviations, &c.n);
	name_strategy(&c, ret->strategy, sizeof ret->strategy);
	fill(&c, &ret->result);
	describe(&c, ret);
	free(c.errors);
	free(c.deviations);
	return 0;
}
