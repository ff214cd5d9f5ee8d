/* SPDX-License-Identifier: MIT */
/* offload.h - the threads that do for fibers what would block a carrier. See offload.c for the rule. */
#ifndef FIB_SCHED_OFFLOAD_H
#define FIB_SCHED_OFFLOAD_H

/* At most so many offload threads in a process, and how long one rests before it ends. */
#define FIB_OFFLOAD_THREADS_MAX 64u
#define FIB_OFFLOAD_REST	INT64_C(3000000000) /* ns */

/* How many there are. Any thread. */
unsigned fib_offload_threads(void);

/* Keep others out while the process forks; the child has none of the threads, and what they had to do is the
 * parent's. */
void fib_offload_lock(void);
void fib_offload_unlock(void);
void fib_offload_forget(void);

#endif
