/* SPDX-License-Identifier: MIT */
/* ticks.h - 32-bit PowerPC: the time base, which has a constant rate and is the same on all CPUs */
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
	uint32_t high, low, again;

	/* The low half may overflow between the reads. */
	do
		__asm__ volatile("mftbu %0\n\t"
				 "mftb %1\n\t"
				 "mftbu %2"
				 : "=r"(high), "=r"(low), "=r"(again));
	while (__builtin_expect(high != again, 0));
	return (uint64_t)high << 32 | low;
}

#endif
