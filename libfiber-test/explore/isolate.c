/* SPDX-License-Identifier: MIT */
/*
 * isolate.c - a process for each schedule
 *
 * The worker is the parent of these processes. It runs no schedule itself, so each process begins
 * with the memory that the test program had when its exploration began. Strategies choose in the
 * child, but what they keep from one schedule to the next is made from the list of its choices, which
 * is shared, and by the parent.
 *
 * The child is killed together with the worker, which is killed when the schedule hangs.
 */
#include "explore/isolate.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore/whole.h"

#define RETRIES	 50u
#define RETRY_US 20000u

/* fork() fails for a moment while other processes end. */
static pid_t fork_patiently(void)
{
	pid_t pid = fork();
	unsigned i;

	for (i = 0; pid < 0 && errno == EAGAIN && i < RETRIES; i++) {
		fib_finding_progress();
		usleep(RETRY_US);
		pid = fork();
	}
	return pid;
}

static void publish(void)
{
	fib_finding_reached(fib_run_reached());
}

void fib_isolate_call(void (*fn)(void *arg), void *arg)
{
	const pid_t parent = getpid();
	const pid_t child = fork_patiently();
	int status;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		fn(arg);
		_exit(0);
	}
	if (child < 0)
		fib_finding_give_up(errno);
	for (;;) {
		if (waitpid(child, &status, WUNTRACED) < 0) {
			if (errno != EINTR)
				fib_finding_give_up(errno);
		} else if (!fib_finding_stops_for_shell(status)) {
			break;
		} else {
			kill(child, SIGCONT);
		}
	}
	fib_finding_leave(status);
}

struct isolated {
	const struct fib_test *test;
	const struct fib_schedule *schedule;
};

static void run(void *isolated)
{
	const struct isolated *i = isolated;

	fib_whole_at_end(publish);
	fib_run_schedule(i->test, i->schedule);
	publish();
}

void fib_isolate(const struct fib_test *test, const struct fib_schedule *schedule)
{
	struct isolated i = {test, schedule};

	fib_isolate_call(run, &i);
}
