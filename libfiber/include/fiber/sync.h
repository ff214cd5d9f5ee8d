/* SPDX-License-Identifier: MIT */
/*
 * sync.h - mutex, condition variable, semaphore
 *
 * A zero-initialised object is ready; none needs to be destroyed. Every call works from a fiber,
 * which parks, and from a plain thread, which blocks; the two may share an object. Waiters are
 * served in FIFO order and a wake-up goes straight to one waiter. Deadlines are absolute
 * nanoseconds on fiber_now()'s clock. No call is async-signal-safe. Waiting calls return
 * -ETIMEDOUT past the deadline, -ECANCELED in a cancelled fiber, -EDEADLK in a pinned fiber under
 * FIBER_PINNED_ERROR; the fields belong to the library.
 */
#ifndef FIBER_SYNC_H
#define FIBER_SYNC_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_wait_queue {
	FIBER_ATOMIC(uint32_t) lock;
	uint32_t length;
	void *head;
	void *tail;
};

struct fiber_mutex {
	char name[32];
	FIBER_ATOMIC(uint64_t) owner; /* 0, or the holder; see layout.h */
	struct fiber_wait_queue waiters;
};

struct fiber_cond {
	char name[32];
	struct fiber_wait_queue waiters;
};

struct fiber_sem {
	char name[32];
	uint64_t count;
	struct fiber_wait_queue waiters;
};

/* Lock, waiting until the deadline. Not recursive: locking what one holds already waits like any
 * other lock (and the tools show the fiber waiting for itself). A mutex cannot starve a waiter:
 * unlocking hands it to the one that waited longest. */
FIBER_API int fiber_mutex_lock(struct fiber_mutex *mutex, int64_t deadline);

/* Lock if that needs no waiting: 0 or -EBUSY. */
FIBER_API int fiber_mutex_trylock(struct fiber_mutex *mutex);

/* Unlock. Always 0. Unlocking a mutex that the caller does not hold is misuse and aborts. */
FIBER_API int fiber_mutex_unlock(struct fiber_mutex *mutex);

/* Release the mutex, wait for a signal, lock the mutex again. It is held again on every return,
 * also on an error. -EDEADLK comes without waiting. */
FIBER_API int fiber_cond_wait(struct fiber_cond *cond, struct fiber_mutex *mutex, int64_t deadline);

/* Wake the longest waiter, or all. Always 0. The mutex need not be held. */
FIBER_API int fiber_cond_signal(struct fiber_cond *cond);
FIBER_API int fiber_cond_broadcast(struct fiber_cond *cond);

/* Set the count of a semaphore that nobody waits on. Always 0. */
FIBER_API int fiber_sem_init(struct fiber_sem *sem, uint64_t count);

/* Take one, waiting until the deadline. */
FIBER_API int fiber_sem_wait(struct fiber_sem *sem, int64_t deadline);

/* Give one: to the longest waiter, else to the count. 0, or -EOVERFLOW at UINT64_MAX. */
FIBER_API int fiber_sem_post(struct fiber_sem *sem);

/* Give any object of this header a name for the tools: up to 31 bytes are copied, NULL clears. 0,
 * or the number of bytes that did not fit. */
FIBER_API int fiber_object_name(void *object, const char *name);

FIBER_END_DECLS

#endif
