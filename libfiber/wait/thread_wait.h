/* SPDX-License-Identifier: MIT */
/*
 * thread_wait.h - block an OS thread until a futex word changes or a descriptor is ready; see
 * thread_wait.c
 */
#ifndef FIB_WAIT_THREAD_WAIT_H
#define FIB_WAIT_THREAD_WAIT_H

#include <poll.h>
#include <stdint.h>

/* I set before the wait, then read-only · L under the lock of the list · A atomic */
struct fib_thread_wait {
	struct pollfd * /* I: the first is for the wait itself, others are the caller's */
		fds;
	nfds_t count;		      /* I: number of fds */
	int failed;		      /* error of poll(2), if it fails */
	struct fib_thread_wait *next; /* L */
	_Atomic uint32_t *word;	      /* L */
	_Atomic uint32_t wakers;      /* A: number of threads about to wake it (thread_wait.end) */
};

/* Create the eventfd; fds and count must be set. Returns 0, -EMFILE, -ENFILE or -ENOMEM. */
int fib_thread_wait_make(struct fib_thread_wait *v);
void fib_thread_wait_free(struct fib_thread_wait *v);

/* Let threads that change word find v, until fib_thread_wait_leave(). */
void fib_thread_wait_enter(struct fib_thread_wait *v, _Atomic uint32_t *word);
void fib_thread_wait_leave(struct fib_thread_wait *v);

/*
 * Sleep while *word == expected and no descriptor is ready, until the deadline (ns). Between enter
 * and leave. Returns 1: a descriptor is ready or v->failed is set; -ETIMEDOUT; else 0. Spurious
 * wake-ups happen.
 */
int fib_thread_wait_sleep(struct fib_thread_wait *v, uint32_t expected, int64_t deadline);

/* Wake the thread that waits on word, which has changed. Any thread; does not access word. */
void fib_thread_wait_wake(_Atomic uint32_t *word);

/* Block other threads while the process forks; the child has none of the sleepers. */
void fib_thread_wait_lock(void);
void fib_thread_wait_unlock(void);
void fib_thread_wait_forget(void);

#endif
