/* SPDX-License-Identifier: MIT */
/*
 * pthreads.c - the locks and other objects of threads, and their names of C11
 *
 * In a static program the C library's own definition must be the only one, so these names are in the
 * shared library alone.
 */
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <fiber/posix.h>

#include "entry/entry.h"
#include "system/native.h"
#include "threads/mutex.h"

/*
 * Whether a call from `caller` is for this library, by a fiber or a thread: an object is used by both.
 * libfiber's own locks are the C library's.
 */
static inline bool keeps(const void *caller)
{
	return fpx_linked && !fpx_is_libfiber(caller);
}

#define ENTRY(result, name, parameters, arguments)                      \
	FPX_ENTRY result name parameters                                \
	{                                                               \
		return keeps(FPX_CALLER) ? fiber_posix_##name arguments \
					 : fpx_native.name arguments;   \
	}

FPX_NATIVE_OTHERS(ENTRY)

FPX_ENTRY int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct fpx_owner me;

	if (!keeps(FPX_CALLER))
		return fpx_native.pthread_mutex_lock(mutex);
	if (!fpx_mutex_is_simple(mutex) || !fpx_mutex_take_free(mutex))
		return fiber_posix_pthread_mutex_lock(mutex);
	me = fpx_owner_self();
	fpx_mutex_own(mutex, &me);
	return 0;
}

FPX_ENTRY int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!keeps(FPX_CALLER))
		return fpx_native.pthread_mutex_unlock(mutex);
	if (!fpx_mutex_is_simple(mutex))
		return fiber_posix_pthread_mutex_unlock(mutex);
	fpx_mutex_release(mutex);
	return 0;
}

/* -- other names of the same functions -- */

FPX_ALIAS(pthread_mutex_lock)
int __pthread_mutex_lock(pthread_mutex_t *mutex) __THROWNL __nonnull((1));
FPX_ALIAS(pthread_mutex_trylock)
int __pthread_mutex_trylock(pthread_mutex_t *mutex) __THROWNL __nonnull((1));
FPX_ALIAS(pthread_mutex_unlock)
int __pthread_mutex_unlock(pthread_mutex_t *mutex) __THROWNL __nonnull((1));
FPX_ALIAS(pthread_rwlock_rdlock)
int __pthread_rwlock_rdlock(pthread_rwlock_t *lock) __THROWNL __nonnull((1));
FPX_ALIAS(pthread_rwlock_wrlock)
int __pthread_rwlock_wrlock(pthread_rwlock_t *lock) __THROWNL __nonnull((1));
FPX_ALIAS(pthread_rwlock_unlock)
int __pthread_rwlock_unlock(pthread_rwlock_t *lock) __THROWNL __nonnull((1));
FPX_ALIAS(pthread_once)
int __pthread_once(pthread_once_t *once, void (*call)(void)) __nonnull((1, 2));
