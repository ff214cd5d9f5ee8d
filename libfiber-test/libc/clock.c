/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the program's own readings of a clock: in a schedule, virtual time
 *
 * These functions take the place of libc's, because the program is linked with them first. Outside
 * a schedule they ask the system. The wall clock begins at 2020-01-01. Clocks of CPU time are the
 * system's in a schedule too.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "libc/linked.h"
#include "os/os.h"
#include "os/virtual.h"

const char fib_libc_clock;

#define SECOND	  INT64_C(1000000000) /* ns */
#define YEAR_2020 INT64_C(1577836800) /* s */

static bool is_wall(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static bool is_monotonic(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
	       clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int64_t now;

	if (!fib_virtual_here() || !(is_wall(clock) || is_monotonic(clock)))
		return (int)syscall(SYS_clock_gettime, clock, ret);
	now = fib_os_now();
	*ret = (struct timespec){(time_t)(now / SECOND), (long)(now % SECOND)};
	if (is_wall(clock))
		ret->tv_sec += YEAR_2020;
	return 0;
}

int gettimeofday(struct timeval *ret, void *zone)
{
	struct timespec now;
	const int rc = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone; /* obsolete: see gettimeofday(2) */
	if (rc == 0)
		*ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return rc;
}

time_t time(time_t *ret)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -1;
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}
