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
 * Turn up to n guards into what suits the number of guards of the process: see guard.c. Only those
 * that are older than the last call. Takes some microseconds for each. Called again and again by one
 * thread while fib_guard_defer(true); else the maker of a guard does this too, at once.
 */
void fib_guard_separate(unsigned n);
void fib_guard_defer(bool deferred);

/* Returns whether there is work for fib_guard_separate(). */
bool fib_guard_waits(void);

/* Returns whether guards are made inside their mapping and not split later. Any thread. */
bool fib_guard_stays_inside(void);

/* Returns whether a guard that is made inside its mapping is split before its stack is used. Any
 * thread. */
bool fib_guard_splits_at_once(void);

/*
 * Returns whether a guard may be made when its stack is first taken, and not before: guards are now
 * made inside their mapping, which takes nothing but page tables. Any thread; once true, it stays
 * true unless the kernel refuses such a guard.
 */
bool fib_guard_can_wait(void);

/* In a forked child, whose other threads may have been making guards. Under the lock. */
void fib_guard_forget(void);

/* Lock out other threads while the process forks. */
void fib_guard_lock(void);
void fib_guard_unlock(void);

#endif
