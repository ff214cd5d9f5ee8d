/* SPDX-License-Identifier: MIT */
/* crash.h - describe a schedule that ends its process: a signal, abort(), exit() */
#ifndef FIB_TEST_CRASH_H
#define FIB_TEST_CRASH_H

/*
 * Call fn once, before this process dies of a fault or calls abort() or exit(). It then ends as it
 * would have. fn may allocate: the process has nothing to lose, and dies if fn takes too long.
 * NULL: no longer.
 */
void fib_crash_catch(void (*fn)(void));

/* In fn: the signal; 0: exit(). */
int fib_crash_signal(void);

#endif
