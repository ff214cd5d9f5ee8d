/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - turn a hang into a dump of all fibers and a failure
 *
 * All carriers may hang, so a plain thread watches, and another process dumps: fibertrace needs no
 * cooperation, only the right to read this process, which is granted to all processes of our uid.
 *
 * Tests fork, and the child inherits all locks in their state, some held by threads that do not
 * exist in it. The C library releases its own locks; the allocator of AddressSanitizer (before LLVM
 * 18) does not, and a starting thread uses it. The child would then hang at its next allocation of
 * the same size. So harness_watchdog() returns only after its thread has started and touches no
 * such lock any more.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/clock.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"

#define DUMP_SECONDS 30

static _Atomic time_t limit; /* s of CLOCK_MONOTONIC */
static _Atomic unsigned given;
static sem_t begun;

static time_t now(void)
{
	return (time_t)(harness_now() / 1000000000);
}

static void dump(void)
{
	char tool[HARNESS_PATH], pid[16];
	const char *argv[] = {harness_program(tool, "fibertrace"), pid, NULL};
	struct harness_process *p;

	snprintf(pid, sizeof(pid), "%d", getpid());
	if (access(tool, X_OK))
		return;
	p = harness_run(argv, NULL, DUMP_SECONDS);
	fprintf(stderr, "# %s %s (exit %d):\n%s%s", tool, pid, harness_exit_code(p), p->out.bytes,
		p->err.bytes);
}

static void *watch(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), HARNESS_WATCHDOG_THREAD);
	sem_post(&begun);
	for (;;) {
		const time_t left = limit - now();

		if (left <= 0)
			break;
		sleep((unsigned)left);
	}
	fprintf(stderr, "# watchdog: still running after %u s\n", given);
	dump();
	/* A handler of the program or the test library must not catch this abort. */
	signal(SIGABRT, SIG_DFL);
	abort();
}

static void start(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (sem_init(&begun, 0, 0) || pthread_create(&thread, &attr, watch, NULL))
		abort();
	pthread_attr_destroy(&attr);
	while (sem_wait(&begun))
		;
}

void harness_watchdog(unsigned seconds)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	given = (unsigned)harness_seconds((int)seconds);
	limit = now() + (time_t)given;
	pthread_once(&once, start);
}
