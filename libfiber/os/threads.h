/* SPDX-License-Identifier: MIT */
/* threads.h - make, watch and join threads; functions return the negative errno, as in os.h */
#ifndef FIB_OS_THREADS_H
#define FIB_OS_THREADS_H

#include <pthread.h>
#include <stdint.h>

/* Make a joinable thread that blocks the program's signals, except faults. 0, -EAGAIN, ... */
int fib_os_thread_start(pthread_t *ret, void *(*fn)(void *), void *arg);

/*
 * Call before the first pthread_cancel(3): glibc loads a library there, and aborts if that fails,
 * for instance for lack of a descriptor. 0, or -EAGAIN: not possible now.
 */
int fib_os_thread_may_end(void);

/*
 * Join a thread that has exited: 0 and *ret; -EBUSY: it runs; -EDEADLK: it is the caller; -EINVAL:
 * it is detached, or another thread is joining it.
 */
int fib_os_thread_try_join(pthread_t thread, void **ret);

/*
 * Join, waiting for the exit. A cancellation point: if the caller is cancelled, the thread stays
 * joinable.
 */
int fib_os_thread_join(pthread_t thread, void **ret);

/*
 * Open a descriptor, close-on-exec, that is readable once the thread has exited;
 * fib_os_thread_try_join() then does not return -EBUSY. -ESRCH: it has exited already; another
 * error: not supported.
 */
int fib_os_thread_open(pthread_t thread);

/*
 * CPU time of thread tid of this process in ns, or a negative errno: it has exited, or, with tid 0,
 * not started. A system call. For the calling thread: fib_os_thread_cpu().
 */
int64_t fib_os_thread_cpu_of(uint32_t tid);

/* Send a signal to thread tid of this process: 0, or a negative errno. Does not wait. */
int fib_os_thread_signal(uint32_t tid, int number);

/* The stack of a thread that has not been joined, [low, high). 0, or a negative errno. Allocates. */
int fib_os_thread_stack(pthread_t thread, uint64_t *ret_low, uint64_t *ret_high);

#endif
