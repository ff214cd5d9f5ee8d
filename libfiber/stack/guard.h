/* SPDX-License-Identifier: MIT */
/* guard.h - the pages below a stack that fault when it overflows. */
#ifndef FIB_STACK_GUARD_H
#define FIB_STACK_GUARD_H

#include <stddef.h>

/* Make [at, at + size), a part of a mapping from fib_os_map_stacks(), fault on access for ever. 0, or
 * -ENOMEM: then it does not fault. Any thread. */
int fib_guard(void *at, size_t size);

/* While the process forks: nobody is in here. */
void fib_guard_lock(void);
void fib_guard_unlock(void);

#endif
