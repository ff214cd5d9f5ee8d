/* SPDX-License-Identifier: MIT */
/* check.h - misuse by the program, and our own broken promises: one line, then abort. */
#ifndef FIB_BASE_CHECK_H
#define FIB_BASE_CHECK_H

#include "base/compiler.h"

/* Print "libfiber: <text>" on stderr and abort. Async-signal-safe but for the formatting of
 * floating point, which nobody here uses. */
_Noreturn void fib_die(const char *fmt, ...) fib_printf(1, 2);

#define fib_check(condition)                                                          \
	do {                                                                          \
		if (fib_unlikely(!(condition)))                                       \
			fib_die("%s:%d: broken: %s", __FILE__, __LINE__, #condition); \
	} while (0)

#endif
