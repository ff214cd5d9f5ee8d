/* SPDX-License-Identifier: MIT */
/* lent.h - register stacks in memory of the program with valgrind */
#ifndef FIB_BASE_LENT_H
#define FIB_BASE_LENT_H

#include <stddef.h>

#include "checker.h" /* of the folder that the Makefile chose */

/* How a stack is registered and unregistered: by checker.h, or by a test. */
struct fib_lent_ops {
	unsigned (*enter)(void *low, size_t size);
	void (*forget)(unsigned stack);
};

/* Register [low, low + size), on which a context is about to start, with ops, unless it is
 * registered already. From any thread, but not from two for the same memory. Does nothing without
 * memory for the entry. */
void fib_lent_register(const struct fib_lent_ops *ops, void *low, size_t size);

/* Register the memory with valgrind, if valgrind runs the program. */
static inline void fib_lent(void *low, size_t size)
{
	static const struct fib_lent_ops checker = {fib_checker_stack, fib_checker_forget};

	if (fib_checker_runs())
		fib_lent_register(&checker, low, size);
}

#endif
