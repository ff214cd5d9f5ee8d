/* SPDX-License-Identifier: MIT */
/*
 * replay.c - run one schedule in this process, for a debugger
 *
 * Unlike an exploration it neither forks nor hides stderr, so breakpoints and watchpoints work.
 */
#include "explore/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore/crash.h"
#include "explore/isolate.h"
#include "explore/learn.h"
#include "explore/settings.h"
#include "explore/sharing.h"
#include "explore/whole.h"
#include "net/own.h"
#include "os/virtual.h"
#include "report/report.h"
#include "report/timeline.h"
#include "strategy/strategy.h"
#include "text/escape.h"
#include "token/token.h"

static struct {
	const struct fib_test *test;
	struct fib_shared *shared;
	struct fib_token token;
	unsigned next; /* deviation */
	bool matched;
} replay;

bool fib_replayed(void)
{
	return replay.matched;
}

__attribute__((noinline)) void fiber_test_failed(void)
{
	__asm__ volatile("" ::: "memory"); /* not removed: debuggers stop here */
}

static void refuse(const char *file, int rc)
{
	fprintf(stderr, "fiber-test: %s: %s\n", file, strerror(-rc));
	fflush(NULL);
	_exit(2); /* fibers are left: what they own is no leak of this process */
}

/* Write the files of the replay, the trace to stderr. */
static void write_files(void)
{
	const char *const to = fib_settings()->trace, *const timeline = fib_settings()->timeline;
	int fd = STDERR_FILENO, rc = 0;

	if (timeline)
		rc = fib_timeline_write(timeline);
	if (rc < 0)
		refuse(timeline, rc);
	if (!to)
		return;
	if (strcmp(to, "1") != 0)
		fd = fib_own_open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		refuse(to, -errno);
	fib_report_trace(fd);
	if (fd != STDERR_FILENO)
		close(fd);
}

static void report(const char *verdict, const char *message)
{
	struct fib_shared *shared = replay.shared;

	fputs("fiber-test: ", stderr);
	fib_put_plain(stderr, replay.test->options->name);
	fprintf(stderr, ": %s: ", verdict);
	fib_put_plain(stderr, message);
	fprintf(stderr, "\nfiber-test: replay: FIBER_TEST_REPLAY=%s\n", fib_settings()->replay);
	fprintf(stderr, "fiber-test: %u choice%s, %u deviation%s\n", fib_load(&shared->made),
		fib_load(&shared->made) == 1 ? "" : "s", replay.token.n,
		replay.token.n == 1 ? "" : "s");
	if (shared->file[0]) {
		fib_put_plain(stderr, shared->file);
		fprintf(stderr, ":%d: ", shared->line);
		fib_put_plain(stderr, shared->message);
		fputc('\n', stderr);
	}
	if (fib_load(&shared->outside))
		fputs(FIB_USED_OUTSIDE, stderr);
	fib_report_write(shared->report, sizeof shared->report);
	fputs(shared->report, stderr);
	write_files();
}

static void on_found(struct fib_shared *shared)
{
	fib_crash_catch(NULL);
	report(fiber_test_verdict_name((enum fiber_test_verdict)shared->verdict), shared->message);
	fiber_test_failed();
	if (fib_settings()->at_failure == FIB_FAILURE_STOP)
		raise(SIGSTOP);
	if (fib_settings()->at_failure == FIB_FAILURE_ABORT)
		abort();
	fflush(NULL);
	_exit(1);
}

/* The process is about to end, by a signal or exit(). */
static void on_crash(void)
{
	const int signal = fib_crash_signal();
	char message[128];

	if (!fib_explorer_on())
		return;
	if (signal == SIGABRT)
		snprintf(message, sizeof message, "abort()");
	else if (signal)
		snprintf(message, sizeof message, "signal %d (%s)", signal, strsignal(signal));
	else
		snprintf(message, sizeof message, "exit()");
	report(fiber_test_verdict_name(signal && signal != SIGABRT ? FIBER_TEST_CRASHED
								   : FIBER_TEST_FAILED),
	       message);
}

/* fiber_test_assume(false): fibers are left, so the process cannot go on. */
static void on_drop(void)
{
	fib_crash_catch(NULL);
	write_files();
	fputs("fiber-test: ", stderr);
	fib_put_plain(stderr, replay.test->options->name);
	fprintf(stderr, ": fiber_test_assume() drops the schedule of the token after %u choice%s\n",
		fib_load(&replay.shared->made), fib_load(&replay.shared->made) == 1 ? "" : "s");
	fflush(NULL);
}

/* A choice that the token expects and the test does not have: it is of another test, or of other
 * code. */
static unsigned follow(void *context, const struct fib_choice *choice)
{
	const struct fib_token *t = &replay.token;
	unsigned chosen;

	(void)context;
	if (replay.next == t->n || t->at[replay.next].step > choice->step)
		return 0;
	chosen = t->at[replay.next++].chosen;
	if (chosen >= choice->n)
		fib_finding(FIBER_TEST_DIVERGED,
			    "choice %u: the token takes alternative %u, the test has %u",
			    choice->step + 1, chosen + 1, choice->n);
	return chosen;
}

/* Forget what was recorded before. */
static void begin_report(void)
{
	fib_report_begin();
	if (fib_settings()->timeline)
		fib_timeline_begin();
}

static void leave_silently(struct fib_shared *shared)
{
	(void)shared;
	_exit(1);
}

/* Try in a child whether the schedule to learn from is dropped. */
static bool is_first_dropped(const struct fib_test *test, const struct fib_schedule *s)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t child;
	bool dropped;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		fib_crash_catch(NULL);
		fib_finding_to(replay.shared, leave_silently);
		fib_learn(test, s, fib_run_schedule, &replay.shared->learning);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	close(null);
	dropped = fib_finding_take_drop();
	fib_store(&replay.shared->found, 0);
	return dropped;
}

/*
 * Learn what the exploration had learnt: in this process as it did, in children where a schedule that
 * is dropped would end this process.
 */
static void learn(const struct fib_test *test, const struct fib_schedule *s)
{
	const bool apart = test->options->flags & FIBER_TEST_ISOLATE || is_first_dropped(test, s);

	fib_learn(test, s, apart ? fib_isolate : fib_run_schedule, &replay.shared->learning);
}

static void run(const struct fib_test *test, struct fib_shared *shared)
{
	struct fib_schedule s = {
		.choose = follow,
		.steps = shared->steps,
		.made = &shared->made,
		.outside = &shared->outside,
		.step_limit = test->options->steps,
		.slack = test->options->slack,
		.traced = true,
		.replays = !replay.token.numbered,
	};
	struct fib_strategies strategies;
	const char *why;

	if (replay.token.numbered) {
		if (replay.token.number) {
			learn(test, &s);
			begin_report();
			fib_strategies_parse(test->options->strategy, &strategies, &why);
			fib_strategies_begin(&strategies, replay.token.seed, replay.token.number);
			s.choose = fib_strategies_choose;
		} else {
			fib_learn_begin(replay.token.seed);
			s.choose = fib_learn_choose;
		}
	}
	fib_finding_on_drop(on_drop);
	fib_run_schedule(test, &s);
}

static void ended_well(void)
{
	fib_crash_catch(NULL);
	if (!replay.token.numbered && replay.next < replay.token.n)
		fib_finding(FIBER_TEST_DIVERGED,
			    "the test ended after %u choices, the token has more: it is of another "
			    "test, or the code has changed",
			    fib_load(&replay.shared->made));
	write_files();
	fputs("fiber-test: ", stderr);
	fib_put_plain(stderr, replay.test->options->name);
	fputs(": the schedule of the token ends well\n", stderr);
}

void fib_replay(const struct fib_test *test)
{
	const struct fiber_test_options *o = test->options;
	struct fib_shared *shared;
	const char *why;

	fib_token_read(fib_settings()->replay, &replay.token, &why);
	if (replay.token.test != fib_token_test(o->name, o->faults, o->slack, o->steps))
		return;
	replay.test = test;
	replay.matched = true;
	replay.shared = shared = fib_shared_new(o->steps);
	if (!shared || fib_run_prepare(test) < 0) {
		fprintf(stderr, "fiber-test: %s: out of memory\n", o->name);
		exit(2);
	}
	replay.shared = shared;
	fib_whole_at_end(ended_well);
	fib_sharing_learn(test);
	fib_virtual_set_patience(o->hang_limit);
	fib_finding_to(shared, on_found);
	begin_report();
	fib_crash_catch(on_crash);
	run(test, shared);
	ended_well();
	fib_shared_free(shared);
}
