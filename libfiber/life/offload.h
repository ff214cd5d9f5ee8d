/* SPDX-License-Identifier: MIT */
/* offload.h - the threads that do for fibers what would block a carrier. See offload.c for the rule. */
#ifndef FIB_LIFE_OFFLOAD_H
#define FIB_LIFE_OFFLOAD_H

#include <stdint.h>

/* At most so many offload threads in a process, and how long one rests before it ends. */
#define FIB_OFFLOAD_THREADS_MAX 64u
#define FIB_OFFLOAD_REST	INT64_C(3000000000) /* ns */

/*
 * fiber_block() for what works on the caller's memory: once it is handed over the wait ends with fn and with
 * nothing else. Before that, 0 becomes -ECANCELED in a cancelled fiber, and -ETIMEDOUT when the deadline has passed; after
 * these, and after -EAGAIN, -ENOMEM and -EDEADLK, fn is never called.
 */
int fib_offload_uncancellable(void *(*fn)(void *), void *arg, int64_t deadline);

/* How many there are. Any thread. */
unsigned fib_offload_threads(void);

/* Keep others out while the process forks; the child has none of the threads, and what they had to do is the
 * parent's. */
void fib_offload_lock(void);
void fib_offload_unlock(void);
void fib_offload_forget(void);

#endif
