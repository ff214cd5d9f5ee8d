/* SPDX-License-Identifier: MIT */
/* leaks.h - memory and descriptors that a schedule leaves behind */
#ifndef FIB_TEST_LEAKS_H
#define FIB_TEST_LEAKS_H

#include <stddef.h>

/* Start a schedule; flags: FIBER_TEST_MEMORY, FIBER_TEST_DESCRIPTORS. */
void fib_leaks_begin(unsigned flags);

/* A block of the program's own, which a call at `caller` has allocated; it is freed. */
void fib_leaks_add(const void *at, size_t size, const void *caller);
void fib_leaks_remove(const void *at);

/* End it: with a finding if something is left. */
void fib_leaks_end(void);

#endif
