/* SPDX-License-Identifier: MIT */
/* check.h - abort with one line: misuse by the program, and broken invariants of the library */
#ifndef FIB_BASE_CHECK_H
#define FIB_BASE_CHECK_H

#include "base/compiler.h"

/* Print "libfiber: <text>" on stderr and abort. Async-signal-safe unless it formats floating point,
 * which no caller does. */
_Noreturn void fib_die(const char *fmt, ...) fib_printf(1, 2);

/* Report that call was given NULL and abort: "fiber 7 "name": fiber_join: the fiber is NULL".
 * Async-signal-safe. */
_Noreturn void fib_die_null(const char *call, const char *what);

/* Set the function that writes the name of the caller, `fiber 7 "name"`. It must be
 * async-signal-safe. Without one the line starts with the call. */
#define FIB_CHECK_CALLER 80
void fib_check_set_caller(void (*caller)(char text[FIB_CHECK_CALLER]));

/* Used at the start of a public function. what: for example "the fiber". */
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
