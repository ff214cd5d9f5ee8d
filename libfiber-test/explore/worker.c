/* SPDX-License-Identifier: MIT */
/*
 * worker.c - run schedules in a forked process
 *
 * The process of the test program is never harmed by a test: whatever a schedule does happens in a
 * child. What the child writes to stderr goes to a file; it is part of the report of a finding.
 */
#include "explore/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "memory.h"
#include "os/virtual.h"
#include "explore/hash.h"
#include "explore/isolate.h"
#include "explore/learn.h"
#include "explore/settings.h"
#include "explore/whole.h"
#include "report/report.h"
#include "strategy/strategy.h"

#define LOOK_MS	     50
#define ERRORS_SHOWN 16384u

static struct fib_board *board_here; /* NULL: the process runs one schedule */

/* Let the other workers stop at the number of this schedule. */
static void leave(struct fib_shared *shared)
{
	const uint64_t number = fib_load(&shared->running);
	uint64_t lowest;

	if (board_here) {
		lowest = fib_load(&board_here->lowest);
		while (number < lowest && !fib_cas(&board_here->lowest, &lowest, number))
			;
	}
	_exit(1);
}

static void leave_with_report(struct fib_shared *shared)
{
	fib_report_write(shared->report, sizeof shared->report);
	_exit(1);
}

/* A framework that catches faults would jump out of the fiber. */
static void catch_no_faults(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	unsigned i;

	for (i = 0; i < fib_countof(faults); i++)
		signal(faults[i], SIG_DFL);
}

/* In the child. */
static void settle(struct fib_worker *w, const struct fib_test *test)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	catch_no_faults();
	dup2(w->errors, STDERR_FILENO);
	if (fib_whole())
		fib_whole_settle(w->errors);
	/* An assertion of cmocka aborts instead of jumping to another stack. */
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	fib_virtual_set_patience(test->options->hang_limit);
	fib_finding_to(w->shared, leave);
	if (fib_run_prepare(test) < 0)
		fib_finding(FIBER_TEST_FAILED, "out of memory");
}

/* Returns 0 in the child, 1 in the parent. */
static int start(const struct fib_test *test, struct fib_worker *ret)
{
	*ret = (struct fib_worker){fib_shared_new(test->options->steps), -1, -1, -1};
	ret->errors = memfd_create("fiber-test", MFD_CLOEXEC);
	if (!ret->shared || ret->errors < 0) {
		fib_worker_release(ret);
		return -ENOMEM;
	}
	fflush(NULL);
	ret->pid = fork();
	if (ret->pid < 0) {
		fib_worker_release(ret);
		return -EAGAIN;
	}
	if (ret->pid == 0) {
		settle(ret, test);
		return 0;
	}
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	return 1;
}

static struct fib_schedule schedule_of(const struct fib_test *test, struct fib_shared *shared)
{
	return (struct fib_schedule){
		.choose = fib_strategies_choose,
		.steps = shared->steps,
		.made = &shared->made,
		.step_limit = test->options->steps,
		.slack = test->options->slack,
		.hash = fib_settings()->hash ? &shared->choices : NULL,
	};
}

static void run_many(const struct fib_test *test, struct fib_board *board,
		     struct fib_shared *shared, unsigned index, unsigned count)
{
	const struct fiber_test_options *o = test->options;
	const struct fib_schedule s = schedule_of(test, shared);
	fib_run_fn *const run = o->flags & FIBER_TEST_ISOLATE ? fib_isolate : fib_run_schedule;
	struct fib_strategies strategies;
	uint64_t number;
	unsigned made;
	const unsigned fair = fib_explorer_fair_after(o->steps);
	const char *why;

	fib_strategies_parse(o->strategy, &strategies, &why);
	board_here = board;
	fib_exhaustive_limit(o->preemptions);
	fib_store(&shared->running, 1);
	fib_store(&shared->learning, 1);
	fib_learn(test, &s, run);
	fib_store(&shared->learning, 0);
	for (number = index + 1; number <= o->schedules && number < fib_load(&board->lowest);
	     number += count) {
		fib_store(&shared->running, number);
		if (lseek(STDERR_FILENO, 0, SEEK_CUR) > 0 && ftruncate(STDERR_FILENO, 0) == 0)
			lseek(STDERR_FILENO, 0, SEEK_SET);
		fib_strategies_begin(&strategies, o->seed, number);
		run(test, &s);
		fib_store(&shared->hash,
			  fib_load(&shared->hash) +
				  fib_hash_schedule(fib_load(&shared->choices), number));
		made = fib_load(&shared->made);
		if (made > fib_load(&shared->longest))
			fib_store(&shared->longest, made);
		fib_finding_reached(fib_run_reached());
		fib_store(&shared->schedules, fib_load(&shared->schedules) + 1);
		fib_finding_progress();
		if (!fib_strategies_end(&strategies, shared->steps, made < fair ? made : fair)) {
			/* Later choices are random: not all were taken. */
			fib_store(&shared->complete, fib_strategies_visit_all(&strategies) &&
							     fib_memory_complete() &&
							     fib_load(&shared->longest) <= fair);
			break;
		}
	}
	_exit(0);
}

int fib_worker_explore(const struct fib_test *test, struct fib_board *board, unsigned index,
		       unsigned count, struct fib_worker *ret)
{
	const int rc = start(test, ret);

	if (rc == 0)
		run_many(test, board, ret->shared, index, count);
	return rc < 0 ? rc : 0;
}

struct deviating {
	const struct fib_deviation *at;
	unsigned n, next;
};

/* Take the deviations; where one cannot be taken, the first alternative. */
static unsigned deviate(void *context, const struct fib_choice *choice)
{
	struct deviating *d = context;

	while (d->next < d->n && d->at[d->next].step < choice->step)
		d->next++;
	if (d->next == d->n || d->at[d->next].step != choice->step)
		return 0;
	return d->at[d->next].chosen < choice->n ? d->at[d->next].chosen : 0;
}

int fib_worker_try(const struct fib_test *test, const struct fib_deviation *deviations, unsigned n,
		   bool traced, struct fib_worker *ret)
{
	const int rc = start(test, ret);
	struct deviating d = {deviations, n, 0};
	struct fib_schedule s;

	if (rc != 0)
		return rc < 0 ? rc : 0;
	s = schedule_of(test, ret->shared);
	s.choose = deviate;
	s.context = &d;
	s.replays = true;
	s.traced = traced;
	if (traced) {
		fib_report_begin();
		fib_finding_to(ret->shared, leave_with_report);
	}
	fib_run_schedule(test, &s);
	_exit(0);
}

static void call_hung(struct fib_shared *shared, int64_t hang_limit)
{
	shared->verdict = FIBER_TEST_HUNG;
	snprintf(shared->message, sizeof shared->message, "no choice within %.1f s",
		 (double)hang_limit / 1e9);
	fib_store(&shared->found, 1);
}

/* The last line that is not empty, without line ends. */
static void last_line(const char *text, char *ret, size_t size)
{
	const char *end = text + strlen(text), *at;

	while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	for (at = end; at > text && at[-1] != '\n'; at--)
		;
	snprintf(ret, size, "%.*s", (int)(end - at), at);
}

char *fib_worker_errors(const struct fib_worker *w)
{
	char *text = calloc(1, ERRORS_SHOWN + 1);
	const off_t size = lseek(w->errors, 0, SEEK_END);
	const off_t from = size > (off_t)ERRORS_SHOWN ? size - (off_t)ERRORS_SHOWN : 0;

	if (text && pread(w->errors, text, ERRORS_SHOWN, from) < 0)
		text[0] = 0;
	return text;
}

/* An assertion of another library has said on stderr what failed. */
static void take_message(const struct fib_worker *w)
{
	struct fib_shared *shared = w->shared;
	char *errors;

	if (!fib_load(&shared->found) || strcmp(shared->message, "abort()") != 0)
		return;
	errors = fib_worker_errors(w);
	if (errors && errors[0])
		last_line(errors, shared->message, sizeof shared->message);
	free(errors);
}

void fib_worker_wait(struct fib_worker *w, int64_t hang_limit, int64_t end)
{
	struct pollfd one = {w->pidfd, POLLIN, 0};
	uint64_t seen = 0, progress;
	int64_t since = fib_virtual_real(), now;
	int status = 0;

	while (waitpid(w->pid, &status, WNOHANG) == 0) {
		poll(&one, w->pidfd >= 0, w->pidfd >= 0 ? LOOK_MS : 1);
		now = fib_virtual_real();
		progress = fib_load(&w->shared->progress);
		if (progress != seen) {
			seen = progress;
			since = now;
		}
		if (hang_limit >= 0 && now - since > hang_limit)
			call_hung(w->shared, hang_limit);
		else if (now < end)
			continue;
		kill(w->pid, SIGKILL);
		waitpid(w->pid, &status, 0);
		status = 0;
		break;
	}
	w->pid = -1;
	fib_finding_status(w->shared, status);
	take_message(w);
}

void fib_worker_release(struct fib_worker *w)
{
	fib_shared_free(w->shared);
	if (w->errors >= 0)
		close(w->errors);
	if (w->pidfd >= 0)
		close(w->pidfd);
}
