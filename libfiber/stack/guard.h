/* SPDX-License-Identifier: MIT */
/* guard.h - the pages below a stack that fault when it overflows. */
#ifndef FIB_STACK_GUARD_H
#define FIB_STACK_GUARD_H

#include <stddef.h>

/* Make [at, at + size), a part of a mapping from fib_os_map_stacks(), fault on access for ever, and as many of the
 * n - 1 like it that follow, stride apart, as can be had for one price. How many from the first on, or a
 * negative errno: then it does not fault. Any thread. */
int fib_guard(void *at, size_t size, size_t stride, unsigned n);

/* While the process forks: nobody is in here. */
void fib_guard_lock(void);
void fib_guard_unlock(void);

#endif
