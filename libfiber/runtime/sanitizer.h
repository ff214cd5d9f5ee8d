/* SPDX-License-Identifier: MIT */
/* sanitizer.h - sanitizers that the program was built with. */
#ifndef FIB_RUNTIME_SANITIZER_H
#define FIB_RUNTIME_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

/* A sanitizer whose runtime the process may have inside. */
struct fib_sanitizer {
	const char *name;
	bool there;
	const char *library; /* the libfiber that announces switches to it; NULL: none does */
};

/* Write one line about the first of n sanitizers that is there, unless announced is its name. Returns whether it wrote.
 * announced: NULL: switches are announced to no sanitizer. */
bool fib_sanitizer_report(const struct fib_sanitizer sanitizers[], size_t n, const char *announced);

/* The same for this process and this libfiber, once. Any thread. */
void fib_sanitizer_check(void);

#endif
