/* SPDX-License-Identifier: MIT */
/* ticks.h - the port for machines without one of their own knows no counter. */
#ifndef FIB_ARCH_TICKS_H
#define FIB_ARCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether ticks go on evenly, whatever the CPU does: else nothing can be timed by them. */
static inline bool fib_arch_ticks_even(void)
{
	return false;
}

static inline uint64_t fib_arch_ticks(void)
{
	return 0;
}

#endif
