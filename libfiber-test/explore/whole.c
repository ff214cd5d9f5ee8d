/* SPDX-License-Identifier: MIT */
/*
 * whole.c - run a whole program as one schedule
 *
 * exit() runs the handlers of the program first and ours last, because ours is registered before
 * main(). A process that the program forks inherits the handler, and must not end the schedule.
 */
#include "explore/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "explore/explorer.h"
#include "explore/finding.h"
#include "explore/linear.h"
#include "explore/stuck.h"
#include "sched/gather.h"

static struct {
	bool on;
	bool reopens; /* stdin is a file, which each schedule reads from its start */
	pid_t pid;    /* of the schedule */
	void (*at_end)(void);
} whole;

void fib_whole_set(void)
{
	whole.on = true;
}

bool fib_whole(void)
{
	return whole.on;
}

void fib_whole_at_end(void (*fn)(void))
{
	whole.at_end = fn;
}

void fib_whole_settle(int output)
{
	struct stat st;
	int null;

	dup2(output, STDOUT_FILENO);
	/* A finding ends the process without a flush. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	whole.reopens = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
	if (whole.reopens)
		return;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		close(null);
	}
}

static void ended(int status, void *arg)
{
	(void)arg;
	if (getpid() != whole.pid)
		return;
	if (status && !fib_gather_used())
		fib_finding(FIBER_TEST_FAILED, "exit status %d, before it called libfiber", status);
	if (status)
		fib_finding(FIBER_TEST_FAILED, "exit status %d", status);
	if (!fib_gather_used())
		fib_finding_give_up(FIB_NEVER_CALLED);
	fib_linear_check();
	if (whole.at_end)
		whole.at_end();
	fib_explorer_end();
}

/* Children of the program are no part of the schedule. */
static void in_child(void)
{
	if (fib_explorer_on())
		fib_explorer_end();
}

/* Give the process a position of its own in the file. */
static void reopen_stdin(void)
{
	const int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	close(fd);
}

void fib_whole_run(fiber_test_fn *fn, void *arg)
{
	whole.pid = getpid();
	fib_stuck_in(NULL);
	fib_check(pthread_atfork(NULL, NULL, in_child) == 0);
	fib_check(on_exit(ended, NULL) == 0);
	if (whole.reopens)
		reopen_stdin();
	fn(arg);
	exit(0);
}
