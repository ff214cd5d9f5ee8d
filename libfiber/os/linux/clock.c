/* SPDX-License-Identifier: MIT */
/* clock.c - the monotonic clock. */
#include "os/os.h"

#include <time.h>

int64_t fib_os_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
