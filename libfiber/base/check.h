/* SPDX-License-Identifier: MIT */
/* check.h - misuse by the program, and our own broken promises: one line, then abort. */
#ifndef FIB_BASE_CHECK_H
#define FIB_BASE_CHECK_H

#include "base/compiler.h"

/* Print "libfiber: <text>" on stderr and abort. Async-signal-safe but for the formatting of
 * floating point, which nobody here uses. */
_Noreturn void fib_die(const char *fmt, ...) fib_printf(1, 2);

/* The same for a NULL that was given to call: "fiber 7 "name": fiber_join: the fiber is NULL". Async-signal-safe. */
_Noreturn void fib_die_null(const char *call, const char *what);

/* Write who calls, for people: `fiber 7 "name"`. Async-signal-safe. Without one the line begins with the call. */
#define FIB_CHECK_CALLER 80
void fib_check_set_caller(void (*caller)(char text[FIB_CHECK_CALLER]));

/* At the beginning of a public function. what: "the fiber". */
#define fib_must_have(pointer, what)                  \
	do {                                          \
		if (fib_unlikely(!(pointer)))         \
			fib_die_null(__func__, what); \
	} while (0)

#define fib_check(condition)                                                          \
	do {                                                                          \
		if (fib_unlikely(!(condition)))                                       \
			fib_die("%s:%d: broken: %s", __FILE__, __LINE__, #condition); \
	} while (0)

#endif
