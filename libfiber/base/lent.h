/* SPDX-License-Identifier: MIT */
/* lent.h - stacks in memory of the program's own, which valgrind is told of. */
#ifndef FIB_BASE_LENT_H
#define FIB_BASE_LENT_H

#include <stddef.h>

#include "checker.h" /* of the folder that the Makefile chose */

/* What becomes of a stack: checker.h, or what a test puts in its place. */
struct fib_lent_ops {
	unsigned (*enter)(void *low, size_t size);
	void (*forget)(unsigned stack);
};

/* Tell ops that a context is about to begin on [low, low + size), unless that is known. Any thread, but no two for the same
 * memory. Without memory for the note nothing is told. */
void fib_lent_tell(const struct fib_lent_ops *ops, void *low, size_t size);

/* The same for valgrind, where it runs the program. */
static inline void fib_lent(void *low, size_t size)
{
	static const struct fib_lent_ops checker = {fib_checker_stack, fib_checker_forget};

	if (fib_checker_runs())
		fib_lent_tell(&checker, low, size);
}

#endif
