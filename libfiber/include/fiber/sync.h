/* SPDX-License-Identifier: MIT */
/*
 * sync.h - mutex, readers-writer lock, condition, semaphore, event, barrier, once, waitgroup
 *
 * A zero-initialised object is ready; none needs to be destroyed. Every call works from a fiber,
 * which parks, and from a plain thread, which blocks; the two may share an object. Waiters are
 * served in FIFO order and a wake-up goes straight to one waiter. Deadlines are absolute
 * nanoseconds on fiber_now()'s clock. No call is async-signal-safe. Waiting calls return
 * -ETIMEDOUT past the deadline, -ECANCELED in a cancelled fiber, -EDEADLK in a pinned fiber under
 * FIBER_PINNED_ERROR, -ENOMEM without memory for the deadline; the fields belong to the library.
 *
 * A lock that is free and a semaphore above 0 are taken without a wait. So that a loop of such calls does not
 * keep its carrier for ever, a fiber that makes 1,024 to 2,047 of them in one turn yields in the
 * next fiber_mutex_lock(), fiber_rwlock_rdlock(), fiber_rwlock_wrlock() or fiber_sem_wait(),
 * before it takes what it asks for. A pinned fiber does not; the result is the same.
 *
 * An object may be freed when every call that waits on it has returned; a call that woke them
 * need not have returned. An object must stay where it is: while it is in use it can be neither
 * moved nor copied.
 */
#ifndef FIBER_SYNC_H
#define FIBER_SYNC_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_wait_queue {
	FIBER_ATOMIC(uint32_t) lock;
	uint32_t length;
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
	uint64_t count;
	struct fiber_wait_queue waiters;
};

struct fiber_rwlock {
	char name[32];
	uint64_t owner;	  /* 0, or the writer; see layout.h */
	uint32_t readers; /* how many hold it */
	uint32_t reader;  /* who they are, mixed: of one alone it is known */
	struct fiber_wait_queue waiters;
};

struct fiber_event {
	char name[32];
	uint64_t set;
	struct fiber_wait_queue waiters;
};

struct fiber_barrier {
	char name[32];
	uint64_t count; /* how many go on together */
	struct fiber_wait_queue waiters;
};

struct fiber_once {
	char name[32];
	uint64_t runner;	      /* 0, or who runs the function; see layout.h */
	FIBER_ATOMIC(uint64_t) state; /* 0, running, done */
	struct fiber_wait_queue waiters;
};

/* The same under a name that no function has: C++ hides the type struct fiber_once behind the function
 * unless `struct` is written before it. A struct fiber_once_flag can be given to fiber_once(). */
#ifdef __cplusplus
struct fiber_once_flag : fiber_once {
};
#else
#define fiber_once_flag fiber_once
#endif

struct fiber_waitgroup {
	char name[32];
	uint64_t count; /* how many are not done */
	struct fiber_wait_queue waiters;
};

/* Lock, waiting until the deadline. Not recursive: locking what the caller holds already is misuse and
 * aborts where it would wait for ever, or returns -EDEADLK: enum fiber_relock_policy in
 * runtime.h; with a deadline it returns -ETIMEDOUT then. A mutex cannot starve a waiter:
 * unlocking hands it to the one that waited longest. */
FIBER_API int fiber_mutex_lock(struct fiber_mutex *mutex, int64_t deadline);

/* Lock if that needs no waiting: 0 or -EBUSY, also for a mutex that the caller holds. Never yields. */
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

/* Take one if that needs no waiting: 0 or -EAGAIN. From a fiber or a thread. Never waits or yields. */
FIBER_API int fiber_sem_trywait(struct fiber_sem *sem);

/* The count: how many can be taken without waiting at this moment. A moment later it may be
 * otherwise. From a fiber or a thread. Never waits. */
FIBER_API uint64_t fiber_sem_value(struct fiber_sem *sem);

/* Give one: to the longest waiter, else to the count. 0, or -EOVERFLOW at UINT64_MAX. */
FIBER_API int fiber_sem_post(struct fiber_sem *sem);

/* Lock for reading, together with other readers. Whoever waits is not overtaken: a reader that
 * comes after a waiting writer waits behind it, also while others read. So a reader that locks
 * once more may wait for a writer that waits for it: do not. */
FIBER_API int fiber_rwlock_rdlock(struct fiber_rwlock *lock, int64_t deadline);

/* Lock for writing, alone. Not recursive, and not for one that reads already: it would wait for
 * itself. Detected as misuse, with the policy of fiber_mutex_lock(), are a caller that locks in any
 * way what it writes, and one that asks to write while it is the only reader. Not detected is one
 * that asks to write while others read beside it. */
FIBER_API int fiber_rwlock_wrlock(struct fiber_rwlock *lock, int64_t deadline);

/* Lock in that way if it needs no waiting: 0 or -EBUSY, also where the caller holds it. A reader gets -EBUSY while
 * a writer waits. From a fiber or a thread. Never waits or yields. */
FIBER_API int fiber_rwlock_tryrdlock(struct fiber_rwlock *lock);
FIBER_API int fiber_rwlock_trywrlock(struct fiber_rwlock *lock);

/* Unlock what the caller holds either way. Always 0. Lets in the longest waiting writer, or all
 * readers that wait before the next writer. Unlocking what nobody reads and somebody else writes
 * is misuse and aborts; of readers only their number is known. */
FIBER_API int fiber_rwlock_unlock(struct fiber_rwlock *lock);

/* Wait until the event is set. A zero-initialised one is not. */
FIBER_API int fiber_event_wait(struct fiber_event *event, int64_t deadline);

/* Set the event and wake all who wait; it stays set. They return 0 even if it is reset before they
 * run. Always 0. */
FIBER_API int fiber_event_set(struct fiber_event *event);

/* From now on waiters wait again. Always 0. */
FIBER_API int fiber_event_reset(struct fiber_event *event);

/* How many callers a barrier that nobody waits on holds back. A zero-initialised one holds back
 * nobody, as if n were 1. 0, or -EINVAL where n is 0. */
FIBER_API int fiber_barrier_init(struct fiber_barrier *barrier, unsigned n);

/*
 * Wait until n callers have come. The one that came last gets FIBER_BARRIER_LAST and did not
 * wait, the others get 0; then the barrier is ready for the next n. Whoever returns with an
 * error has not come: the others go on waiting for n. A deadline that passes while the last one
 * comes does not count.
 */
FIBER_API int fiber_barrier_wait(struct fiber_barrier *barrier, int64_t deadline);
#define FIBER_BARRIER_LAST 1

/*
 * Run fn(arg) if that was never done for this object, and return when it is done: the first
 * caller runs it, in the place of the call, and the others wait for it. 0 when fn has returned,
 * once, and what it wrote can be seen; -ECANCELED or -EDEADLK where the call had to wait and
 * could not.
 *
 * A fiber that ends in fn by fiber_exit or fiber_fail, and a thread that ends in it by
 * pthread_exit or pthread_cancel, has not done it: whoever waited longest runs its own fn, or
 * the next caller does. fn must not be left by longjmp or by an exception, nor call fiber_once
 * for the same object: that waits for itself, as the tools then show. The object may be freed
 * when every call has returned.
 */
FIBER_API int fiber_once(struct fiber_once *once, void (*fn)(void *), void *arg);

/* n more things are to be done; n < 0: as many are done. Add before what you count can be done,
 * and not while the count is 0 and somebody may be about to wait. 0, or -EOVERFLOW. Taking away
 * more than the count is misuse and aborts. */
FIBER_API int fiber_waitgroup_add(struct fiber_waitgroup *group, int64_t n);

/* One is done. Wakes all who wait when none is left. Always 0. */
FIBER_API int fiber_waitgroup_done(struct fiber_waitgroup *group);

/* Wait until the count is 0. */
FIBER_API int fiber_waitgroup_wait(struct fiber_waitgroup *group, int64_t deadline);

/* Give any object of this header, a channel, a group or a timer a name for the tools: up to 31
 * bytes are copied, NULL clears. 0, or the number of bytes that did not fit. Two callers who name
 * one object at once make a mixture. */
FIBER_API int fiber_object_name(void *object, const char *name);

FIBER_END_DECLS

#endif
