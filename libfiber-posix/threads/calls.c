/* SPDX-License-Identifier: MIT */
/* calls.c - the calls of <pthread.h> and <semaphore.h> by another name: which of them are kept here */
#include <errno.h>
#include <stdbool.h>

#include <fiber/fiber.h>
#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/park.h"
#include "system/native.h"
#include "threads/barrier.h"
#include "threads/cond.h"
#include "threads/deadline.h"
#include "threads/handlers.h"
#include "threads/mutex.h"
#include "threads/once.h"
#include "threads/rwlock.h"
#include "threads/sem.h"
#include "threads/thread.h"

#define TRIES 100 /* of a spin lock before the fiber yields */

/* -- mutexes -- */

int fiber_posix_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return fpx_mutex_kept(mutex) ? fpx_mutex_lock(mutex, FIBER_FOREVER)
				     : fpx_native.pthread_mutex_lock(mutex);
}

int fiber_posix_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	return fpx_mutex_kept(mutex) ? fpx_mutex_trylock(mutex)
				     : fpx_native.pthread_mutex_trylock(mutex);
}

/* A mutex that is free is taken, however wrong the time is, as in the C library. */
static int lock_until(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *at)
{
	int64_t deadline;
	int rc = fpx_mutex_lock(mutex, 0);

	if (rc != ETIMEDOUT)
		return rc;
	rc = fpx_deadline_at(clock, at, &deadline);
	return rc ? rc : fpx_mutex_lock(mutex, deadline);
}

int fiber_posix_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *at)
{
	return fpx_mutex_kept(mutex) ? lock_until(mutex, CLOCK_REALTIME, at)
				     : fpx_native.pthread_mutex_timedlock(mutex, at);
}

int fiber_posix_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
					const struct timespec *at)
{
	return fpx_mutex_kept(mutex) ? lock_until(mutex, clock, at)
				     : fpx_native.pthread_mutex_clocklock(mutex, clock, at);
}

int fiber_posix_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return fpx_mutex_kept(mutex) ? fpx_mutex_unlock(mutex)
				     : fpx_native.pthread_mutex_unlock(mutex);
}

/* -- conditions -- */

int fiber_posix_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return fpx_cond_kept(cond, mutex) ? fpx_cond_wait(cond, mutex, NULL, NULL)
					  : fpx_native.pthread_cond_wait(cond, mutex);
}

int fiber_posix_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				       const struct timespec *at)
{
	return fpx_cond_kept(cond, mutex) ? fpx_cond_wait(cond, mutex, NULL, at)
					  : fpx_native.pthread_cond_timedwait(cond, mutex, at);
}

int fiber_posix_pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				       clockid_t clock, const struct timespec *at)
{
	return fpx_cond_kept(cond, mutex)
		       ? fpx_cond_wait(cond, mutex, &clock, at)
		       : fpx_native.pthread_cond_clockwait(cond, mutex, clock, at);
}

int fiber_posix_pthread_cond_signal(pthread_cond_t *cond)
{
	return fpx_cond_signal(cond);
}

int fiber_posix_pthread_cond_broadcast(pthread_cond_t *cond)
{
	return fpx_cond_broadcast(cond);
}

/* -- locks for readers and writers -- */

static bool parks_for(const pthread_rwlock_t *lock)
{
	return !lock->__data.__shared && fpx_parks();
}

static int rwlock_until(pthread_rwlock_t *lock, bool writes, clockid_t clock,
			const struct timespec *at)
{
	int64_t deadline;
	const int rc = fpx_deadline_at(clock, at, &deadline);

	return rc ? rc : fpx_rwlock_lock(lock, writes, deadline);
}

int fiber_posix_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	return parks_for(lock) ? fpx_rwlock_lock(lock, false, FIBER_FOREVER)
			       : fpx_native.pthread_rwlock_rdlock(lock);
}

int fiber_posix_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	return parks_for(lock) ? fpx_rwlock_lock(lock, true, FIBER_FOREVER)
			       : fpx_native.pthread_rwlock_wrlock(lock);
}

int fiber_posix_pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *at)
{
	return parks_for(lock) ? rwlock_until(lock, false, CLOCK_REALTIME, at)
			       : fpx_native.pthread_rwlock_timedrdlock(lock, at);
}

int fiber_posix_pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *at)
{
	return parks_for(lock) ? rwlock_until(lock, true, CLOCK_REALTIME, at)
			       : fpx_native.pthread_rwlock_timedwrlock(lock, at);
}

int fiber_posix_pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
					   const struct timespec *at)
{
	return parks_for(lock) ? rwlock_until(lock, false, clock, at)
			       : fpx_native.pthread_rwlock_clockrdlock(lock, clock, at);
}

int fiber_posix_pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
					   const struct timespec *at)
{
	return parks_for(lock) ? rwlock_until(lock, true, clock, at)
			       : fpx_native.pthread_rwlock_clockwrlock(lock, clock, at);
}

int fiber_posix_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	return fpx_rwlock_unlock(lock);
}

/* -- semaphores -- */

static int sem_until(sem_t *sem, clockid_t clock, const struct timespec *at)
{
	int64_t deadline;
	const int rc = fpx_deadline_at(clock, at, &deadline);

	/* Not as signal(7) says, but as the system does it. */
	fpx_unrestarted();
	return (int)fpx_result(rc ? -rc : fpx_sem_wait(sem, deadline));
}

int fiber_posix_sem_wait(sem_t *sem)
{
	return fpx_parks() ? (int)fpx_result(fpx_sem_wait(sem, FIBER_FOREVER))
			   : fpx_native.sem_wait(sem);
}

int fiber_posix_sem_timedwait(sem_t *sem, const struct timespec *at)
{
	return fpx_parks() ? sem_until(sem, CLOCK_REALTIME, at) : fpx_native.sem_timedwait(sem, at);
}

int fiber_posix_sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *at)
{
	return fpx_parks() ? sem_until(sem, clock, at) : fpx_native.sem_clockwait(sem, clock, at);
}

int fiber_posix_sem_post(sem_t *sem)
{
	const int rc = fpx_native.sem_post(sem);
	sigset_t before;

	if (rc < 0)
		return rc;
	/* In a handler: it must not interrupt itself where it holds locks of libfiber. */
	if (fpx_at_home()) {
		fpx_quiet_begin(&before);
		fpx_sem_wake(sem);
		fpx_quiet_end(&before);
		return 0;
	}
	fpx_sem_wake(sem);
	return 0;
}

/* -- others -- */

int fiber_posix_pthread_once(pthread_once_t *once, void (*call)(void))
{
	fpx_once(once, call);
	return 0;
}

int fiber_posix_pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
				     unsigned count)
{
	int shared = PTHREAD_PROCESS_PRIVATE;

	if (attr)
		pthread_barrierattr_getpshared(attr, &shared);
	return shared == PTHREAD_PROCESS_PRIVATE
		       ? fpx_barrier_init(barrier, count)
		       : fpx_native.pthread_barrier_init(barrier, attr, count);
}

int fiber_posix_pthread_barrier_wait(pthread_barrier_t *barrier)
{
	return fpx_barrier_kept(barrier) ? fpx_barrier_wait(barrier)
					 : fpx_native.pthread_barrier_wait(barrier);
}

int fiber_posix_pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	return fpx_barrier_kept(barrier) ? fpx_barrier_destroy(barrier)
					 : fpx_native.pthread_barrier_destroy(barrier);
}

/* The fiber that has it may be behind this one on its carrier. */
int fiber_posix_pthread_spin_lock(pthread_spinlock_t *lock)
{
	unsigned tries = 0;

	if (!fpx_parks())
		return fpx_native.pthread_spin_lock(lock);
	while (pthread_spin_trylock(lock) != 0)
		if (++tries % TRIES == 0 && fiber_yield() < 0)
			fiber_posix_sched_yield();
	return 0;
}

/*
 * Of a plain thread, by a fiber. A thread that was cancelled ends here. Any other cancelled fiber must
 * wait all the same: the thread may use what the caller frees next.
 */
static int join_plain(pthread_t thread, void **ret)
{
	int rc = -ECANCELED;

	while (rc == -ECANCELED && fpx_thread_can_stop()) {
		rc = fiber_thread_join(thread, ret, FIBER_FOREVER);
		if (rc == -ECANCELED)
			fpx_thread_test_cancel();
	}
	if (rc != -ECANCELED)
		return rc;
	fiber_cancel_mask();
	rc = fiber_thread_join(thread, ret, FIBER_FOREVER);
	fiber_cancel_unmask();
	return rc;
}

int fiber_posix_pthread_join(pthread_t thread, void **ret)
{
	if (fpx_thread_is(thread))
		return fpx_thread_join(thread, ret, FIBER_FOREVER);
	if (!fpx_parks())
		return fpx_native.pthread_join(thread, ret);
	/* The C library says what is wrong. Or there was no thread for the wait, and this one waits. */
	return join_plain(thread, ret) == 0 ? 0 : fpx_native.pthread_join(thread, ret);
}
