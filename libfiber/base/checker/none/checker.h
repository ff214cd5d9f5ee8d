/* SPDX-License-Identifier: MIT */
/* checker.h - no valgrind support: built without <valgrind/valgrind.h>, or with a sanitizer */
#ifndef FIB_BASE_CHECKER_H
#define FIB_BASE_CHECKER_H

#include <stdbool.h>
#include <stddef.h>

static inline bool fib_checker_runs(void)
{
	return false;
}

static inline unsigned fib_checker_stack(void *low, size_t size)
{
	(void)low;
	(void)size;
	return 0;
}

static inline void fib_checker_forget(unsigned stack)
{
	(void)stack;
}

static inline void fib_checker_defined(const void *at, size_t size)
{
	(void)at;
	(void)size;
}

#endif
