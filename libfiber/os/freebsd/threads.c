/* SPDX-License-Identifier: MIT */
/* threads.c - threads by their number, and a join that does not wait */
#include "os/threads.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <pthread_np.h>
#include <sys/thr.h>
#include <sys/time.h>

#include "base/compiler.h"

/* A join until a time that has passed. ENOTSUP: another thread is joining it. */
fib_noinline int fib_os_thread_try_join(pthread_t thread, void **ret)
{
	const struct timespec past = {0, 0};
	const int rc = pthread_timedjoin_np(thread, ret, &past);

	if (rc == ETIMEDOUT)
		return -EBUSY;
	return rc == ENOTSUP ? -EINVAL : -rc;
}

fib_noinline int64_t fib_os_thread_cpu_of(uint32_t tid)
{
	struct timespec t;
	clockid_t clock;

	/* Thread 0 is the caller. */
	if (!tid)
		return -ESRCH;
	if (clock_getcpuclockid2((id_t)tid, CPUCLOCK_WHICH_TID, &clock) < 0 ||
	    clock_gettime(clock, &t) < 0)
		return -errno;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

fib_noinline int fib_os_thread_stack(pthread_t thread, uint64_t *ret_low, uint64_t *ret_high)
{
	pthread_attr_t attr;
	size_t size = 0;
	void *low = NULL;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return -rc;
	rc = pthread_attr_get_np(thread, &attr);
	if (!rc)
		rc = pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	if (rc)
		return -rc;
	*ret_low = (uint64_t)(uintptr_t)low;
	*ret_high = *ret_low + size;
	return 0;
}

int fib_os_thread_signal(uint32_t tid, int number)
{
	return thr_kill((long)tid, number) < 0 ? -errno : 0;
}
