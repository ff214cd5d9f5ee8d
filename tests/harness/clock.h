/* SPDX-License-Identifier: MIT */
/* clock.h - the clock that tests measure with */
#ifndef HARNESS_CLOCK_H
#define HARNESS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns of CLOCK_MONOTONIC, the clock of fiber_now() and of the times that fixtures print. */
static inline int64_t harness_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
