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
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "explore/cmocka.h"
#include "explore/crash.h"
#include "explore/interrupt.h"
#include "explore/settings.h"
#include "explore/whole.h"
#include "os/virtual.h"
#include "report/report.h"

#define UNATTENDED   INT64_C(2000000000) /* ns */
#define ERRORS_SHOWN 16384u

static struct fib_board *board_here; /* NULL: the process runs one schedule */
static int details_here = -1;
static struct fib_shared *shared_here; /* of a traced schedule */

/* Let the other workers stop at the number of this schedule. */
static void leave(struct fib_shared *shared)
{
	const uint64_t number = fib_load(&shared->running);
	uint64_t lowest;

	if (board_here && !board_here->keep_going) {
		lowest = fib_load(&board_here->lowest);
		while (number < lowest && !fib_cas(&board_here->lowest, &lowest, number))
			;
	}
	_exit(1);
}

static void describe(void)
{
	if (!fib_explorer_on())
		return;
	fib_report_write(shared_here->report, sizeof shared_here->report);
	fib_report_json(details_here);
	fib_store(&shared_here->detailed, 1);
}

static void leave_with_report(struct fib_shared *shared)
{
	(void)shared;
	describe();
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
	fib_interrupt_ignore();
	/* Thousands of aborts would leave thousands of cores. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	dup2(w->errors, STDERR_FILENO);
	if (fib_settings()->hide_stdout)
		dup2(w->errors, STDOUT_FILENO);
	if (fib_whole())
		fib_whole_settle(w->errors);
	fib_cmocka_settle();
	fib_virtual_set_patience(test->options->hang_limit);
	fib_finding_to(w->shared, leave);
	if (fib_run_prepare(test) < 0)
		fib_finding(FIBER_TEST_FAILED, "out of memory");
}

/* Returns 0 in the child, 1 in the parent. */
static int start(const struct fib_test *test, struct fib_worker *ret)
{
	*ret = FIB_WORKER_NONE;
	ret->shared = fib_shared_new(test->options->steps);
	ret->errors = memfd_create("fiber-test", MFD_CLOEXEC);
	if (!ret->shared || ret->errors < 0) {
		fib_worker_release(ret);
		*ret = FIB_WORKER_NONE;
		return -ENOMEM;
	}
	fflush(NULL);
	ret->pid = fork();
	if (ret->pid < 0) {
		fib_worker_release(ret);
		*ret = FIB_WORKER_NONE;
		return -EAGAIN;
	}
	if (ret->pid == 0) {
		settle(ret, test);
		return 0;
	}
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	ret->since = ret->looked = fib_virtual_real();
	return 1;
}

int fib_worker_explore(const struct fib_test *test, struct fib_board *board, uint64_t from,
		       unsigned stride, const struct fib_shared *after, struct fib_worker *ret)
{
	const int rc = start(test, ret);

	ret->from = from;
	if (rc == 0) {
		board_here = board;
		fib_series_run(test, board, ret->shared, from, stride, after);
	}
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
	const int details = traced ? memfd_create("fiber-test", MFD_CLOEXEC) : -1;
	const int rc = start(test, ret);
	struct deviating d = {deviations, n, 0};
	struct fib_schedule s;

	if (rc < 0)
		close(details);
	else
		ret->details = details;
	if (rc != 0)
		return rc < 0 ? rc : 0;
	s = fib_series_schedule(test, ret->shared);
	s.choose = deviate;
	s.context = &d;
	s.replays = true;
	s.traced = traced;
	if (traced) {
		details_here = details;
		shared_here = ret->shared;
		fib_crash_catch(describe);
		fib_report_begin();
		fib_finding_to(ret->shared, leave_with_report);
	}
	fib_run_schedule(test, &s);
	_exit(0);
}

/* Cut the last line that is not empty off a text of n bytes. Returns it; "" if there is none. */
static char *cut_line(char *text, size_t *n)
{
	while (*n > 0 && strchr("\n\r", text[*n - 1]))
		text[--*n] = 0;
	while (*n > 0 && text[*n - 1] != '\n')
		--*n;
	return text + *n;
}

/*
 * std::terminate() writes "terminate called after throwing an instance of 'TYPE'" and, in the next
 * line, "  what():  MESSAGE". Returns the message with the type before it, in buf; NULL: it is
 * another line.
 */
static const char *exception_of(char *text, size_t *n, const char *line, char *buf, size_t size)
{
	static const char what[] = "  what():  ", thrown[] = " throwing an instance of '";
	const char *type;

	if (strncmp(line, what, sizeof what - 1) != 0)
		return NULL;
	type = strstr(cut_line(text, n), thrown);
	if (!type)
		return NULL;
	type += sizeof thrown - 1;
	snprintf(buf, size, "%.*s: %s", (int)strcspn(type, "'"), type, line + sizeof what - 1);
	return buf;
}

/*
 * Another library has said on stderr what failed, in the last line. cmocka says it in the line
 * before, and the place in the last one; the C++ runtime in both.
 */
static void take_message(const struct fib_worker *w)
{
	static const char cmocka[] = ": error: Failure!";
	struct fib_shared *shared = w->shared;
	char text[2048], both[sizeof shared->message], *line, *colon;
	const char *exception;
	const off_t end = lseek(w->errors, 0, SEEK_END);
	const off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
	const ssize_t got = pread(w->errors, text, sizeof text - 1, from);
	size_t n = got < 0 ? 0 : (size_t)got, length;

	if (!fib_load(&shared->found) || strcmp(shared->message, "abort()") != 0)
		return;
	text[n] = 0;
	line = cut_line(text, &n);
	length = strlen(line);
	if (length > sizeof cmocka && strcmp(line + length - sizeof cmocka + 1, cmocka) == 0) {
		line[length - sizeof cmocka + 1] = 0;
		colon = strrchr(line, ':');
		if (colon && n) {
			shared->line = (int32_t)strtol(colon + 1, NULL, 10);
			snprintf(shared->file, sizeof shared->file, "%.*s", (int)(colon - line),
				 line);
			line = cut_line(text, &n);
		}
	}
	exception = exception_of(text, &n, line, both, sizeof both);
	snprintf(shared->message, sizeof shared->message, "%s",
		 exception ? exception
		 : line[0] ? line
			   : "abort()");
}

static void call_hung(struct fib_shared *shared, int64_t hang_limit)
{
	shared->verdict = FIBER_TEST_HUNG;
	snprintf(shared->message, sizeof shared->message, "no choice within %.1f s",
		 (double)hang_limit / 1e9);
	fib_store(&shared->found, 1);
}

/* It is alive. Returns whether it must end. */
static bool must_end(struct fib_worker *w, int64_t hang_limit)
{
	const int64_t now = fib_virtual_real();
	const uint64_t progress = fib_load(&w->shared->progress);

	/* This process itself was stopped for a while. */
	if (progress != w->seen || now - w->looked > UNATTENDED)
		w->since = now;
	w->seen = progress;
	w->looked = now;
	if (hang_limit < 0 || now - w->since <= hang_limit)
		return false;
	call_hung(w->shared, hang_limit);
	return true;
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

bool fib_worker_ended(struct fib_worker *w, int64_t hang_limit, bool over)
{
	int status = 0;
	bool ended = waitpid(w->pid, &status, WNOHANG | WUNTRACED) == w->pid;

	if (ended && fib_finding_stops_for_shell(status)) {
		kill(w->pid, SIGCONT);
		ended = false;
	}
	if (!ended && !over && !must_end(w, hang_limit))
		return false;
	if (ended)
		fib_finding_status(w->shared, status);
	if (!ended || WIFSTOPPED(status)) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, &status, 0);
	}
	w->pid = -1;
	take_message(w);
	return true;
}

void fib_worker_wait(struct fib_worker *w, int64_t hang_limit)
{
	struct pollfd one = {w->pidfd, POLLIN, 0};

	while (!fib_worker_ended(w, hang_limit, fib_interrupted() != 0))
		poll(&one, w->pidfd >= 0, w->pidfd >= 0 ? FIB_LOOK_MS : 1);
}

void fib_worker_release(struct fib_worker *w)
{
	fib_shared_free(w->shared);
	if (w->errors >= 0)
		close(w->errors);
	if (w->details >= 0)
		close(w->details);
	if (w->pidfd >= 0)
		close(w->pidfd);
}
