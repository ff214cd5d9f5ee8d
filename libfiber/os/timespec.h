/* SPDX-License-Identifier: MIT */
/*
 * timespec.h - nanoseconds as the struct timespec of a system call
 *
 * On most machines with addresses of 32 bits, time_t has 32 bits too: it ends after 68 years. A
 * longer time without its upper bits may be negative, or 0, and a wait for it does not wait. So a
 * longer time becomes the longest one. The caller looks at its deadline after each wait and waits
 * again.
 */
#ifndef FIB_OS_TIMESPEC_H
#define FIB_OS_TIMESPEC_H

#include <stdint.h>
#include <time.h>

/* The largest value of a signed integer with this number of bytes. */
static inline int64_t fib_timespec_most(unsigned bytes)
{
	return (int64_t)(UINT64_MAX >> (65 - 8 * bytes));
}

/* The whole seconds of ns, from 0 to most. */
static inline int64_t fib_timespec_seconds(int64_t ns, int64_t most)
{
	const int64_t seconds = ns > 0 ? ns / 1000000000 : 0;

	return seconds < most ? seconds : most;
}

/* ns as a struct timespec: 0 for a negative ns; the largest time_t in whole seconds for a longer time. */
static inline struct timespec fib_timespec(int64_t ns)
{
	const int64_t seconds = fib_timespec_seconds(ns, fib_timespec_most(sizeof(time_t)));

	return (struct timespec){.tv_sec = (time_t)seconds,
				 .tv_nsec = ns > 0 ? (long)(ns % 1000000000) : 0};
}

#endif
