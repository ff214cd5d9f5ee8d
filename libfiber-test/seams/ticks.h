/* SPDX-License-Identifier: MIT */
/* ticks.h - the recorder's clock is that of the schedule: the library under test */
#ifndef FIB_ARCH_TICKS_H
#define FIB_ARCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "os/virtual.h"

static inline bool fib_arch_ticks_even(void)
{
	return true;
}

/* ns, another value each time. */
static inline uint64_t fib_arch_ticks(void)
{
	return (uint64_t)fib_virtual_tick();
}

#endif
