/* SPDX-License-Identifier: MIT */
/* linked.h - the files of this folder are linked in any case; see net/linked.h */
#ifndef FIB_TEST_LIBC_LINKED_H
#define FIB_TEST_LIBC_LINKED_H

extern const char fib_libc_clock, fib_libc_open, fib_libc_random, fib_libc_sleep;

#endif
