/* SPDX-License-Identifier: MIT */
/* ticks.h - x86-64: the time stamp counter, which goes on evenly on CPUs of this century and is the same on all of them. */
#ifndef FIB_ARCH_TICKS_H
#define FIB_ARCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cpuid.h>
#include <x86intrin.h>

/* Whether ticks go on evenly, whatever the CPU does: else nothing can be timed by them. */
static inline bool fib_arch_ticks_even(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

static inline uint64_t fib_arch_ticks(void)
{
	return __rdtsc();
}

#endif
