/* SPDX-License-Identifier: MIT */
/* ticks.h - i386: the time stamp counter, which on current CPUs has a constant rate and is the
 * same on all CPUs */
#ifndef FIB_ARCH_TICKS_H
#define FIB_ARCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cpuid.h>
#include <x86intrin.h>

/* Whether ticks run at a constant rate, whatever the CPU does: otherwise they cannot measure
 * time. */
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
