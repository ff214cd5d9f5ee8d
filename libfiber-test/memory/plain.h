/* SPDX-License-Identifier: MIT */
/*
 * plain.h - copy, fill and compare memory without a look at the accesses
 *
 * The functions of the C library, whose names copies.c takes. libfiber's own calls of memcpy() and
 * the like are renamed to these when libfiber-test-memory.a is made (scripts/explore.mk).
 */
#ifndef FIB_TEST_PLAIN_H
#define FIB_TEST_PLAIN_H

#include <stddef.h>

void *fib_plain_memcpy(void *to, const void *from, size_t size);
void *fib_plain_memmove(void *to, const void *from, size_t size);
void *fib_plain_memset(void *at, int value, size_t size);
int fib_plain_memcmp(const void *a, const void *b, size_t size);

#endif
