/* SPDX-License-Identifier: MIT */
/* ticks.h - 64-bit RISC-V: the counter behind the clocks of the kernel */
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
	uint64_t ticks;

	__asm__ volatile("rdtime %0" : "=r"(ticks));
	return ticks;
}

#endif
