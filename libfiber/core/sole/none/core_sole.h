/* SPDX-License-Identifier: MIT */
/* core_sole.h - no thread is ever the sole user: another instruction set, or a sanitizer */
#ifndef FIB_CORE_SOLE_ARCH_H
#define FIB_CORE_SOLE_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

#define FIB_SOLE_POSSIBLE false

static inline uint64_t fib_sole_thread(void)
{
	return UINT64_MAX; /* never the user */
}

static inline bool fib_sole_plain_cas32(_Atomic uint32_t *p, uint32_t expected, uint32_t v)
{
	return fib_cas(p, &expected, v);
}

static inline bool fib_sole_plain_cas64(_Atomic uint64_t *p, uint64_t expected, uint64_t v)
{
	return fib_cas(p, &expected, v);
}

#endif
