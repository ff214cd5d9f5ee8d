/* SPDX-License-Identifier: MIT */
/* sanitizer.h - check for a sanitizer that this libfiber does not support */
#ifndef FIB_RUNTIME_SANITIZER_H
#define FIB_RUNTIME_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

/* A sanitizer whose runtime may be in the process. */
struct fib_sanitizer {
	const char *name;
	bool there;
	const char *library; /* the libfiber that announces switches to it; NULL: none does */
};

/* Print one line about the first of n sanitizers that is there, unless announced is its name.
 * Returns whether it printed. announced: the sanitizer that switches are announced to; NULL:
 * none. */
bool fib_sanitizer_report(const struct fib_sanitizer sanitizers[], size_t n, const char *announced);

/* fib_sanitizer_report() for this process and this libfiber, once. Any thread. */
void fib_sanitizer_check(void);

#endif
