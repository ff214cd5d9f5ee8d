/* SPDX-License-Identifier: MIT */
/*
 * native.h - the C library's locks and other objects of threads, behind the names that this library
 * takes
 *
 * X(result, name, parameters, arguments): a call of the C library.
 */
#ifndef FPX_SYSTEM_NATIVE_H
#define FPX_SYSTEM_NATIVE_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

/* clang-format off */
#define FPX_NATIVE_FAST(X)                                                                        \
	X(int, pthread_mutex_lock, (pthread_mutex_t *a), (a))                                      \
	X(int, pthread_mutex_unlock, (pthread_mutex_t *a), (a))
#define FPX_NATIVE_OTHERS(X)                                                                      \
	X(int, pthread_mutex_trylock, (pthread_mutex_t *a), (a))                                   \
	X(int, pthread_mutex_timedlock, (pthread_mutex_t *a, const struct timespec *b), (a, b))    \
	X(int, pthread_mutex_clocklock, (pthread_mutex_t *a, clockid_t b,                          \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_cond_wait, (pthread_cond_t *a, pthread_mutex_t *b), (a, b))                 \
	X(int, pthread_cond_timedwait, (pthread_cond_t *a, pthread_mutex_t *b,                     \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_cond_clockwait, (pthread_cond_t *a, pthread_mutex_t *b, clockid_t c,        \
		const struct timespec *d), (a, b, c, d))                                           \
	X(int, pthread_cond_signal, (pthread_cond_t *a), (a))                                      \
	X(int, pthread_cond_broadcast, (pthread_cond_t *a), (a))                                   \
	X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *a), (a))                                  \
	X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *a), (a))                                  \
	X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *a, const struct timespec *b), (a, b))\
	X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *a, const struct timespec *b), (a, b))\
	X(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *a, clockid_t b,                      \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *a, clockid_t b,                      \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_rwlock_unlock, (pthread_rwlock_t *a), (a))                                  \
	X(int, sem_wait, (sem_t *a), (a))                                                          \
	X(int, sem_timedwait, (sem_t *a, const struct timespec *b), (a, b))                        \
	X(int, sem_clockwait, (sem_t *a, clockid_t b, const struct timespec *c), (a, b, c))        \
	X(int, sem_post, (sem_t *a), (a))                                                          \
	X(int, pthread_once, (pthread_once_t *a, void (*b)(void)), (a, b))                         \
	X(int, pthread_barrier_init, (pthread_barrier_t *a, const pthread_barrierattr_t *b,        \
		unsigned c), (a, b, c))                                                            \
	X(int, pthread_barrier_wait, (pthread_barrier_t *a), (a))                                  \
	X(int, pthread_barrier_destroy, (pthread_barrier_t *a), (a))                               \
	X(int, pthread_spin_lock, (pthread_spinlock_t *a), (a))                                    \
	X(int, pthread_join, (pthread_t a, void **b), (a, b))
#define FPX_NATIVE_CALLS(X) FPX_NATIVE_FAST(X) FPX_NATIVE_OTHERS(X)
/* clang-format on */

#define FPX_NATIVE_MEMBER(result, name, parameters, arguments) result(*name) parameters;

/* I: set when the library is loaded, or at the first call. Never NULL. */
struct fpx_native {
	FPX_NATIVE_CALLS(FPX_NATIVE_MEMBER)
};

extern struct fpx_native fpx_native;

/* Set all of it. While the process has one thread. */
void fpx_find_native(void);

#endif
