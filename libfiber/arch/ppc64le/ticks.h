/* SPDX-License-Identifier: MIT */
/* ticks.h - 64-bit PowerPC: the time base, which has a constant rate and is the same on all CPUs */
#ifndef FIB_ARCH_TICKS_H
#define FIB_ARCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether ticks run at a constant rate, whatever the CPU does: otherwise they cannot measure
 * time. */
static inline bool fib_arch_ticks_even(void)
{
	return true;
}

static inline uint64_t fib_arch_ticks(void)
{
	return __builtin_ppc_get_timebase();
}

#endif
