/* SPDX-License-Identifier: MIT */
/* offload.h - threads that run blocking calls for fibers; see offload.c for the rule */
#ifndef FIB_LIFE_OFFLOAD_H
#define FIB_LIFE_OFFLOAD_H

#include <stdbool.h>

#include <stdint.h>

/* The limit of offload threads in a process, and how long one rests before it exits. */
#define FIB_OFFLOAD_THREADS_MAX 64u
#define FIB_OFFLOAD_REST	INT64_C(3000000000) /* ns */

/*
 * fiber_block() for a function that works on the caller's memory: once fn is queued, only its end
 * ends the wait. Before that the call may return -ECANCELED in a cancelled fiber, or -ETIMEDOUT if
 * the deadline has passed. After these, and after -EAGAIN, -ENOMEM and -EDEADLK, fn is never
 * called.
 */
int fib_offload_uncancellable(void *(*fn)(void *), void *arg, int64_t deadline);

/* The number of offload threads. Any thread. */
unsigned fib_offload_threads(void);

/*
 * Call fn with the memory of each call that has the argument and the result, until fn returns something
 * else than 0, and return that. Under the lock of fib_offload_lock().
 */
int fib_offload_each(int (*fn)(const void *low, const void *high, void *arg), void *arg);

/*
 * Block other threads while the process forks. The child has none of the offload threads, and their
 * calls are the parent's.
 */
void fib_offload_lock(void);
bool fib_offload_try(void); /* false: it is locked */
void fib_offload_unlock(void);
void fib_offload_forget(void);

#endif
