/* SPDX-License-Identifier: MIT */
/*
 * c11.c - <threads.h>: the same objects as those of <pthread.h>
 *
 * The C library's own definitions do not call those of <pthread.h> by name. In the shared library
 * alone, as pthreads.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>

#include <fiber/posix.h>

#include "entry/entry.h"

/* A call of <pthread.h> from here would count as libfiber's own. */
static int result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
	return (pthread_mutex_t *)mutex;
}

static pthread_cond_t *cond_of(cnd_t *cond)
{
	return (pthread_cond_t *)cond;
}

FPX_ENTRY int mtx_lock(mtx_t *mutex)
{
	return result(fiber_posix_pthread_mutex_lock(mutex_of(mutex)));
}

FPX_ENTRY int mtx_trylock(mtx_t *mutex)
{
	return result(fiber_posix_pthread_mutex_trylock(mutex_of(mutex)));
}

FPX_ENTRY int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict at)
{
	return result(fiber_posix_pthread_mutex_timedlock(mutex_of(mutex), at));
}

FPX_ENTRY int mtx_unlock(mtx_t *mutex)
{
	return result(fiber_posix_pthread_mutex_unlock(mutex_of(mutex)));
}

FPX_ENTRY int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	return result(fiber_posix_pthread_cond_wait(cond_of(cond), mutex_of(mutex)));
}

FPX_ENTRY int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
			    const struct timespec *restrict at)
{
	return result(fiber_posix_pthread_cond_timedwait(cond_of(cond), mutex_of(mutex), at));
}

FPX_ENTRY int cnd_signal(cnd_t *cond)
{
	return result(fiber_posix_pthread_cond_signal(cond_of(cond)));
}

FPX_ENTRY int cnd_broadcast(cnd_t *cond)
{
	return result(fiber_posix_pthread_cond_broadcast(cond_of(cond)));
}

FPX_ENTRY void call_once(once_flag *flag, void (*call)(void))
{
	fiber_posix_pthread_once((pthread_once_t *)flag, call);
}

FPX_ENTRY int thrd_join(thrd_t thread, int *ret)
{
	void *value;
	const int error = fiber_posix_pthread_join(thread, &value);

	if (error == 0 && ret)
		*ret = (int)(intptr_t)value;
	return result(error);
}

FPX_ENTRY int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	const int before = errno;
	int rc;

	if (fiber_posix_nanosleep(time, left) == 0)
		return 0;
	rc = errno == EINTR ? -1 : -2;
	errno = before;
	return rc;
}

FPX_ENTRY void thrd_yield(void)
{
	fiber_posix_sched_yield();
}
