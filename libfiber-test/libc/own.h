/* SPDX-License-Identifier: MIT */
/*
 * own.h - memory of the library itself
 *
 * The library's sources are compiled with the names on the left for those on the right
 * (scripts/explore.mk). So where a program is linked with --wrap=malloc, only its own calls are
 * wrapped.
 */
#ifndef FIB_TEST_OWN_H
#define FIB_TEST_OWN_H

#include <stddef.h>

void *fib_own_malloc(size_t size);
void *fib_own_calloc(size_t n, size_t size);
void *fib_own_realloc(void *at, size_t size);
void *fib_own_aligned_alloc(size_t alignment, size_t size);
char *fib_own_strdup(const char *text);
void fib_own_free(void *at);

#endif
