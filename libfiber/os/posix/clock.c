/* SPDX-License-Identifier: MIT */
/* clock.c - the clocks */
#include "os/os.h"

#include <errno.h>
#include <time.h>

static int64_t to_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return to_ns(&t);
}

int64_t fib_os_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t fib_os_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* A system call, which a sandbox may refuse. */
static int64_t read_cpu(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) == 0 ? to_ns(&t) : -errno;
}

int64_t fib_os_thread_cpu(void)
{
	return read_cpu(CLOCK_THREAD_CPUTIME_ID);
}

int64_t fib_os_process_cpu(void)
{
	return read_cpu(CLOCK_PROCESS_CPUTIME_ID);
}
