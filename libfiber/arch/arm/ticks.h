/* SPDX-License-Identifier: MIT */
/* ticks.h - 32-bit ARM: its counters are not open to programs on every system */
#ifndef FIB_ARCH_TICKS_H
#define FIB_ARCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether ticks run at a constant rate, whatever the CPU does: otherwise they cannot measure
 * time. */
static inline bool fib_arch_ticks_even(void)
{
	return false;
}

static inline uint64_t fib_arch_ticks(void)
{
	return 0;
}

#endif
