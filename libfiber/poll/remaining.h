/* SPDX-License-Identifier: MIT */
/* remaining.h - the time that a wait may still take, as system calls want it */
#ifndef FIB_POLL_REMAINING_H
#define FIB_POLL_REMAINING_H

#include <stdint.h>
#include <time.h>

#include "os/os.h"
#include "os/timespec.h"

/*
 * The nanoseconds until deadline (ns on fib_os_now()'s clock), also in *ret. 0 for a deadline that
 * is 0 or has passed, and for INT64_MAX: the caller waits without a limit then.
 */
static inline int64_t fib_poll_remaining(int64_t deadline, struct timespec *ret)
{
	int64_t left = deadline <= 0 || deadline == INT64_MAX ? 0 : deadline - fib_os_now();

	if (left < 0)
		left = 0;
	*ret = fib_timespec(left);
	return left;
}

#endif
