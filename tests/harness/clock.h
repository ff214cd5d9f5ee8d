/* SPDX-License-Identifier: MIT */
/* clock.h - the clock that tests measure with, and their time limits */
#ifndef HARNESS_CLOCK_H
#define HARNESS_CLOCK_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* ns of CLOCK_MONOTONIC, the clock of fiber_now() and of the times that fixtures print. */
static inline int64_t harness_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * The limit, in s, for something that takes far less unless it hangs. FIBER_TEST_PATIENCE=N
 * multiplies it, for an emulator, a sanitizer or a slow machine.
 */
static inline int harness_seconds(int seconds)
{
	const char *const patience = getenv("FIBER_TEST_PATIENCE");

	return patience ? seconds * (int)strtol(patience, NULL, 10) : seconds;
}

#endif
