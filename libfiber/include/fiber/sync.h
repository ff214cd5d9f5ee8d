/* SPDX-License-Identifier: MIT */
/*
 * sync.h - mutex, readers-writer lock, condition, semaphore, event, barrier, once, waitgroup
 *
 * A zero-initialised object is ready to use; no object needs to be destroyed. Every call works from
 * a fiber, which parks, and from a plain thread, which blocks; both may share an object. Waiters
 * are served in FIFO order, and a wake-up goes directly to one waiter. The fields belong to the
 * library. No call is async-signal-safe.
 *
 * Deadlines are absolute nanoseconds on fiber_now()'s clock. Waiting calls return -ETIMEDOUT past
 * the deadline, -ECANCELED in a cancelled fiber, -EDEADLK in a pinned fiber under
 * FIBER_PINNED_ERROR and -ENOMEM without memory for the deadline.
 *
 * A free lock and a semaphore above 0 are taken without waiting. A loop of such calls would keep
 * its carrier forever. So a fiber that makes 1,024 to 2,047 of them without a switch yields in the
 * next fiber_mutex_lock(), fiber_rwlock_rdlock(), fiber_rwlock_wrlock() or fiber_sem_wait(), before
 * it takes the lock or semaphore. A pinned fiber does not yield; the result is the same.
 *
 * An object may be freed when every call that waits on it has returned; the call that woke them
 * need not have returned. An object in use must not be moved or copied.
 */
#ifndef FIBER_SYNC_H
#define FIBER_SYNC_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_wait_queue {
	FIBER_ATOMIC(uint32_t) lock;
	uint32_t own; /* of the object, under lock: touch.h, barrier.c */
	FIBER_ATOMIC(void *) head;
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
	FIBER_ATOMIC(uint64_t) count;
	struct fiber_wait_queue waiters;
};

struct fiber_rwlock {
	char name[32];
	FIBER_ATOMIC(uint64_t) owner; /* 0, or the writer; see layout.h */
	FIBER_ATOMIC(uint64_t) state; /* the number of readers, and more: rwlock.c */
	struct fiber_wait_queue waiters;
};

struct fiber_event {
	char name[32];
	uint64_t set;
	struct fiber_wait_queue waiters;
};

struct fiber_barrier {
	char name[32];
	uint64_t count; /* number of callers that continue together */
	struct fiber_wait_queue waiters;
};

struct fiber_once {
	char name[32];
	uint64_t runner;	      /* 0, or the runner of fn; see layout.h */
	FIBER_ATOMIC(uint64_t) state; /* 0, running, done */
	struct fiber_wait_queue waiters;
};

/* struct fiber_once under a name that is not a function: in C++ the function fiber_once() hides the
 * type unless `struct` is written before it. A struct fiber_once_flag can be passed to
 * fiber_once(). */
#ifdef __cplusplus
struct fiber_once_flag : fiber_once {
};
#else
#define fiber_once_flag fiber_once
#endif

struct fiber_waitgroup {
	char name[32];
	uint64_t count; /* number of things not done yet */
	struct fiber_wait_queue waiters;
};

/*
 * Lock, waiting until the deadline. Not recursive: locking a mutex that the caller holds is misuse.
 * Such a call aborts if it would wait forever, or returns -EDEADLK, as set by enum
 * fiber_relock_policy in runtime.h; with a deadline it returns -ETIMEDOUT. A mutex cannot starve a
 * waiter: the unlock hands it to the longest waiter.
 */
FIBER_API int fiber_mutex_lock(struct fiber_mutex *mutex, int64_t deadline);

/* Lock without waiting. Returns 0 or -EBUSY, also if the caller holds it. Never yields. */
FIBER_API int fiber_mutex_trylock(struct fiber_mutex *mutex);

/* Unlock. Always returns 0. Unlocking a mutex that is not the caller's is misuse and aborts. */
FIBER_API int fiber_mutex_unlock(struct fiber_mutex *mutex);

/* Release the mutex, wait for a signal, lock the mutex again. The mutex is held on every return,
 * also after an error. -EDEADLK is returned without waiting. */
FIBER_API int fiber_cond_wait(struct fiber_cond *cond, struct fiber_mutex *mutex, int64_t deadline);

/*
 * Wake the longest waiter, or all waiters. Always returns 0. The mutex need not be held. If it is
 * held, a broadcast to several fibers lets them wait for the mutex, in the order in which they
 * waited.
 */
FIBER_API int fiber_cond_signal(struct fiber_cond *cond);
FIBER_API int fiber_cond_broadcast(struct fiber_cond *cond);

/* Set the count of a semaphore without waiters. Always returns 0. */
FIBER_API int fiber_sem_init(struct fiber_sem *sem, uint64_t count);

/* Decrement the count, waiting until the deadline. */
FIBER_API int fiber_sem_wait(struct fiber_sem *sem, int64_t deadline);

/* Decrement the count without waiting. Returns 0 or -EAGAIN. From a fiber or a thread. Never waits
 * or yields. */
FIBER_API int fiber_sem_trywait(struct fiber_sem *sem);

/* Return the count: how many can be taken without waiting. It may change at any time. From a fiber
 * or a thread. Never waits. */
FIBER_API uint64_t fiber_sem_value(struct fiber_sem *sem);

/* Wake the longest waiter, or increment the count if there is none. Returns 0, or -EOVERFLOW at
 * UINT64_MAX. */
FIBER_API int fiber_sem_post(struct fiber_sem *sem);

/* Lock for reading, together with other readers. Waiters are not overtaken: a reader that arrives
 * after a waiting writer waits behind it, also while other readers hold the lock. So do not lock
 * for reading twice: the second call may wait for a writer that waits for the first. */
FIBER_API int fiber_rwlock_rdlock(struct fiber_rwlock *lock, int64_t deadline);

/*
 * Lock for writing, alone. Not recursive, and not for a caller that already reads: it would wait
 * for itself. Two cases are detected as misuse, with the policy of fiber_mutex_lock(): the caller
 * already writes, or it is the only reader and asks to write. Not detected: a caller that asks to
 * write while it and others read.
 */
FIBER_API int fiber_rwlock_wrlock(struct fiber_rwlock *lock, int64_t deadline);

/* Lock without waiting, for reading or for writing. Returns 0 or -EBUSY, also where the caller
 * holds it. A reader gets -EBUSY while a writer waits. From a fiber or a thread. Never waits or
 * yields. */
FIBER_API int fiber_rwlock_tryrdlock(struct fiber_rwlock *lock);
FIBER_API int fiber_rwlock_trywrlock(struct fiber_rwlock *lock);

/*
 * Unlock what the caller holds, for reading or for writing. Always returns 0. The lock goes to the
 * longest waiting writer, or to all readers that wait before the next writer. Unlocking without a
 * reader, or while another fiber or thread writes, is misuse and aborts. The library knows only the
 * number of readers, not which they are.
 */
FIBER_API int fiber_rwlock_unlock(struct fiber_rwlock *lock);

/* Wait until the event is set. A zero-initialised event is not set. */
FIBER_API int fiber_event_wait(struct fiber_event *event, int64_t deadline);

/* Set the event and wake all waiters; it stays set. Woken waiters return 0 even if the event is
 * reset before they run. Always returns 0. */
FIBER_API int fiber_event_set(struct fiber_event *event);

/* Reset the event: later waits wait again. Always returns 0. */
FIBER_API int fiber_event_reset(struct fiber_event *event);

/* Set the number of callers of a barrier without waiters. A zero-initialised barrier acts as with n
 * = 1: it never blocks. Returns 0, or -EINVAL for n of 0. */
FIBER_API int fiber_barrier_init(struct fiber_barrier *barrier, unsigned n);

/*
 * Wait until n callers have arrived. The last one gets FIBER_BARRIER_LAST without waiting, the
 * others get 0. Then the barrier is ready for the next n. A caller that gets an error does not
 * count as arrived: the others continue to wait for n. If the deadline passes while the last caller
 * arrives, the call succeeds.
 */
FIBER_API int fiber_barrier_wait(struct fiber_barrier *barrier, int64_t deadline);
#define FIBER_BARRIER_LAST 1

/*
 * Run fn(arg) unless that was done before for this object, and return when it is done. The first
 * caller runs fn inside this call and the others wait for it. Returns 0 when fn has returned, once,
 * and its writes are visible; -ECANCELED or -EDEADLK when the call had to wait and could not.
 *
 * If a fiber exits in fn with fiber_exit() or fiber_fail(), or a thread with pthread_exit() or
 * pthread_cancel(), fn does not count as done: the longest waiter runs its own fn, or the next
 * caller does. fn must not be left by longjmp() or by an exception. It must not call fiber_once()
 * for the same object: that call would wait for itself, and the tools show it. The object may be
 * freed when every call has returned.
 */
FIBER_API int fiber_once(struct fiber_once *once, void (*fn)(void *), void *arg);

/* Add n to the count of things not done; n < 0 subtracts. Call it before the things counted can
 * finish, and not while the count is 0 and another caller may be about to wait. Returns 0, or
 * -EOVERFLOW. Subtracting more than the count is misuse and aborts. */
FIBER_API int fiber_waitgroup_add(struct fiber_waitgroup *group, int64_t n);

/* Subtract 1. Wakes all waiters when the count reaches 0. Always returns 0. */
FIBER_API int fiber_waitgroup_done(struct fiber_waitgroup *group);

/* Wait until the count is 0. */
FIBER_API int fiber_waitgroup_wait(struct fiber_waitgroup *group, int64_t deadline);

/* Name any object of this header, a channel, a group or a timer for the tools. Up to 31 bytes are
 * copied; NULL clears the name. Returns 0, or the number of bytes that did not fit. Two callers
 * that name one object at the same time produce a mixture of both names. */
FIBER_API int fiber_object_name(void *object, const char *name);

FIBER_END_DECLS

#endif
