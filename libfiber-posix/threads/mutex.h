/* SPDX-License-Identifier: MIT */
/* mutex.h - pthread_mutex_t between fibers and threads */
#ifndef FPX_THREADS_MUTEX_H
#define FPX_THREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "threads/owner.h"

enum { FPX_MUTEX_FREE, FPX_MUTEX_TAKEN, FPX_MUTEX_WAITED };

#define FPX_MUTEX_ELISION (256 | 512) /* of __kind: whether the C library may use transactions */

/* Whether it is of a kind that this library keeps: not robust, shared, or with priorities. */
static inline bool fpx_mutex_kept(const pthread_mutex_t *mutex)
{
	return !(mutex->__data.__kind & ~(3 | FPX_MUTEX_ELISION));
}

/* -- one that does not know its owner, and is free: inline -- */

static inline bool fpx_mutex_is_simple(const pthread_mutex_t *mutex)
{
	return !(mutex->__data.__kind & ~FPX_MUTEX_ELISION);
}

/* Where the exact owner is recorded: see mutex.c. */
static inline uint64_t *fpx_mutex_id(pthread_mutex_t *mutex)
{
	return (uint64_t *)(void *)&mutex->__data.__list;
}

/* Atomic: others read them, to find that they are not the owner. */
static inline void fpx_mutex_set_owner(pthread_mutex_t *mutex, int short_id, uint64_t id)
{
	__atomic_store_n(&mutex->__data.__owner, short_id, __ATOMIC_RELAXED);
	__atomic_store_n(fpx_mutex_id(mutex), id, __ATOMIC_RELAXED);
}

/* While the process has one thread no instruction is locked, as in the C library. */
static inline bool fpx_mutex_take_free(pthread_mutex_t *mutex)
{
	int word = FPX_MUTEX_FREE;

	if (__libc_single_threaded) {
		if (mutex->__data.__lock != FPX_MUTEX_FREE)
			return false;
		mutex->__data.__lock = FPX_MUTEX_TAKEN;
		return true;
	}
	return __atomic_compare_exchange_n(&mutex->__data.__lock, &word, FPX_MUTEX_TAKEN, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void fpx_mutex_own(pthread_mutex_t *mutex, const struct fpx_owner *me)
{
	mutex->__data.__nusers++;
	fpx_mutex_set_owner(mutex, me->short_id, me->id);
}

/* Wake one that waits, if the word was FPX_MUTEX_WAITED. */
void fpx_mutex_wake(pthread_mutex_t *mutex);

/* A: waits for any mutex that have lasted for long. */
extern unsigned fpx_mutex_starving;

/* Hand the mutex to one that has waited for long. False: there is none. */
bool fpx_mutex_hand(pthread_mutex_t *mutex);

static inline void fpx_mutex_release(pthread_mutex_t *mutex)
{
	fpx_mutex_set_owner(mutex, 0, 0);
	mutex->__data.__nusers--;
	if (__builtin_expect(__atomic_load_n(&fpx_mutex_starving, __ATOMIC_RELAXED) != 0, 0) &&
	    fpx_mutex_hand(mutex))
		return;
	if (__libc_single_threaded && mutex->__data.__lock == FPX_MUTEX_TAKEN) {
		mutex->__data.__lock = FPX_MUTEX_FREE;
		return;
	}
	/* pairs: lot.meet -- a full barrier. */
	if (__builtin_expect(__atomic_exchange_n(&mutex->__data.__lock, FPX_MUTEX_FREE,
						 __ATOMIC_SEQ_CST) == FPX_MUTEX_WAITED,
			     0))
		fpx_mutex_wake(mutex);
}

/* -- any -- */

/* Returns 0, ETIMEDOUT, EDEADLK, EAGAIN as pthread_mutex_lock(3). Not cancellable. */
int fpx_mutex_lock(pthread_mutex_t *mutex, int64_t deadline);
int fpx_mutex_trylock(pthread_mutex_t *mutex);
int fpx_mutex_unlock(pthread_mutex_t *mutex);

/* Whether the mutex is of a kind that knows its owner, and that is not the caller. */
bool fpx_mutex_refuses(pthread_mutex_t *mutex);

/*
 * Give the mutex up for a wait, however often the caller has it, and take it again: with what the
 * first one returned.
 */
unsigned fpx_mutex_give_up(pthread_mutex_t *mutex);
void fpx_mutex_regain(pthread_mutex_t *mutex, unsigned count);

#endif
