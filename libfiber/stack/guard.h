/* SPDX-License-Identifier: MIT */
/* guard.h - the pages below a stack that fault when it overflows */
#ifndef FIB_STACK_GUARD_H
#define FIB_STACK_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make [at, at + size), a part of a mapping from fib_os_map_stacks(), permanently fault on access,
 * and as many of the next n - 1 guards, stride apart, as one call can make at the same cost.
 * Returns the number of guards made, or a negative errno: then [at, at + size) does not fault. Any
 * thread.
 */
int fib_guard(void *at, size_t size, size_t stride, unsigned n);

/*
 * Returns whether a guard may be made when its stack is first taken, and not before: guards are now
 * made inside their mapping, which takes nothing but page tables. Any thread; once true, it stays
 * true unless the kernel refuses such a guard.
 */
bool fib_guard_can_wait(void);

/* Lock out other threads while the process forks. */
void fib_guard_lock(void);
void fib_guard_unlock(void);

#endif
