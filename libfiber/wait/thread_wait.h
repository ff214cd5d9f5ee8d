/* SPDX-License-Identifier: MIT */
/* thread_wait.h - a thread that sleeps on a word and on descriptors at once. See thread_wait.c for the rule. */
#ifndef FIB_WAIT_THREAD_WAIT_H
#define FIB_WAIT_THREAD_WAIT_H

#include <poll.h>
#include <stdint.h>

/* I set before it begins, then read-only · L under the lock of the list · A atomic */
struct fib_thread_wait {
	struct pollfd *
		fds; /* I: the first is left for the thread wait's own, the others are the caller's */
	nfds_t count;		      /* I: of all of them */
	int failed;		      /* what poll(2) says, if it refuses */
	struct fib_thread_wait *next; /* L */
	_Atomic uint32_t *word;	      /* L */
	_Atomic uint32_t wakers;      /* A: threads that are about to end it (thread_wait.end) */
};

/* Make what a waker ends it with; fds and count are set. 0, -EMFILE, -ENFILE, -ENOMEM. */
int fib_thread_wait_make(struct fib_thread_wait *v);
void fib_thread_wait_free(struct fib_thread_wait *v);

/* Be known to those who wake whoever sleeps on word, until fib_thread_wait_leave(). */
void fib_thread_wait_enter(struct fib_thread_wait *v, _Atomic uint32_t *word);
void fib_thread_wait_leave(struct fib_thread_wait *v);

/* Sleep while *word == expected, none of the descriptors is ready, and until the deadline (ns). In between enter and
 * leave. 1: a descriptor is ready, or v->failed; -ETIMEDOUT; else 0. Spurious wake-ups happen. */
int fib_thread_wait_sleep(struct fib_thread_wait *v, uint32_t expected, int64_t deadline);

/* Wake whoever waits on word, which has changed. Any thread; touches nothing that word points to. */
void fib_thread_wait_wake(_Atomic uint32_t *word);

/* Keep others out while the process forks; the child has none of the sleepers. */
void fib_thread_wait_lock(void);
void fib_thread_wait_unlock(void);
void fib_thread_wait_forget(void);

#endif
