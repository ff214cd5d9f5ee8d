/* SPDX-License-Identifier: MIT */
/* vigil.h - a thread that sleeps on a word and on descriptors at once. See vigil.c for the rule. */
#ifndef FIB_WAIT_VIGIL_H
#define FIB_WAIT_VIGIL_H

#include <poll.h>
#include <stdint.h>

/* I set before it begins, then read-only · L under the vigils' lock · A atomic */
struct fib_vigil {
	struct pollfd
		*fds; /* I: the first is left for the vigil's own, the others are the caller's */
	nfds_t count; /* I: of all of them */
	int failed;   /* what poll(2) says, if it refuses */
	struct fib_vigil *next;	 /* L */
	_Atomic uint32_t *word;	 /* L */
	_Atomic uint32_t wakers; /* A: threads that are about to end it (vigil.end) */
};

/* Make what a waker ends it with; fds and count are set. 0, -EMFILE, -ENFILE, -ENOMEM. */
int fib_vigil_make(struct fib_vigil *v);
void fib_vigil_free(struct fib_vigil *v);

/* Be known to those who wake whoever sleeps on word, until fib_vigil_leave(). */
void fib_vigil_enter(struct fib_vigil *v, _Atomic uint32_t *word);
void fib_vigil_leave(struct fib_vigil *v);

/* Sleep while *word == expected, none of the descriptors is ready, and until the deadline (ns). In between enter and
 * leave. 1: a descriptor is ready, or v->failed; -ETIMEDOUT; else 0. Spurious wake-ups happen. */
int fib_vigil_sleep(struct fib_vigil *v, uint32_t expected, int64_t deadline);

/* Wake whoever keeps a vigil on word, which has changed. Any thread; touches nothing that word points to. */
void fib_vigil_end(_Atomic uint32_t *word);

/* Keep others out while the process forks; the child has none of the sleepers. */
void fib_vigil_lock(void);
void fib_vigil_unlock(void);
void fib_vigil_forget(void);

#endif
