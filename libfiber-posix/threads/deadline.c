/* SPDX-License-Identifier: MIT */
/*
 * deadline.c - points in time of POSIX as libfiber's deadlines
 *
 * libfiber's clock is CLOCK_MONOTONIC. A point in real time is converted once: a step of that clock
 * during the wait does not move the deadline.
 */
#include "threads/deadline.h"

#include <errno.h>

#include <fiber/time.h>

#define NS_PER_S INT64_C(1000000000)

int fpx_deadline_at(clockid_t clock, const struct timespec *at, int64_t *ret)
{
	struct timespec now;

	*ret = FIBER_FOREVER;
	if (!at)
		return 0;
	if (at->tv_nsec < 0 || at->tv_nsec >= NS_PER_S ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return EINVAL;
	clock_gettime(clock, &now);
	if (at->tv_sec < now.tv_sec)
		*ret = fiber_now();
	else if (at->tv_sec - now.tv_sec < FIBER_FOREVER / NS_PER_S / 2)
		*ret = fiber_after((at->tv_sec - now.tv_sec) * NS_PER_S + at->tv_nsec -
				   now.tv_nsec);
	return 0;
}
