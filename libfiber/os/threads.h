/* SPDX-License-Identifier: MIT */
/* threads.h - threads beside the carriers: made, watched and joined. Leaves that return the negative errno, like os.h. */
#ifndef FIB_OS_THREADS_H
#define FIB_OS_THREADS_H

#include <pthread.h>
#include <stdint.h>

/* Make a joinable thread on which the program's signals do not arrive; faults still do. 0, -EAGAIN, ... */
int fib_os_thread_start(pthread_t *ret, void *(*fn)(void *), void *arg);

/* Before the first pthread_cancel(3): glibc loads a library there, and ends the program where that fails, for want of a
 * descriptor for instance. 0, or -EAGAIN: not now. */
int fib_os_thread_may_end(void);

/* Join a thread that has ended: 0 and *ret; -EBUSY while it runs, -EDEADLK for the caller itself, -EINVAL for one that
 * is detached or that somebody joins already. */
int fib_os_thread_try_join(pthread_t thread, void **ret);

/* The same, but wait for its end. A cancellation point: a caller that is ended in it leaves the thread joinable. */
int fib_os_thread_join(pthread_t thread, void **ret);

/* A descriptor, close-on-exec, that is readable once the thread has ended; by then fib_os_thread_try_join() does
 * not say -EBUSY. -ESRCH when it has ended already; another error where there is no such thing. */
int fib_os_thread_open(pthread_t thread);

/* ns that thread tid of this process has run, or a negative errno: it has ended, or, 0, not begun. A system call. The
 * caller's own: fib_os_thread_cpu(). */
int64_t fib_os_thread_cpu_of(uint32_t tid);

#endif
