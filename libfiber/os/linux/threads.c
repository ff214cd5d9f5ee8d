/* SPDX-License-Identifier: MIT */
/*
 * threads.c - wait for the exit of a thread, and read its CPU time
 *
 * Joining a pthread_t blocks, and a deadline cannot interrupt it safely. But Linux has a descriptor
 * that becomes readable when a thread exits, given its tid (since 6.9). POSIX threads have no call
 * for the tid of another thread. But the clock id of a thread's CPU time contains the tid. The
 * kernel's interface defines these ids, so every C library makes them in the same way.
 *
 * A tid is reused after its thread has exited. So after the descriptor was opened the clock id is
 * read again: if it is unchanged, the descriptor is of that thread.
 *
 * Before the kernel announces the exit it clears the tid, on which the C library's join waits.
 *
 * A carrier publishes its own tid. To read its CPU time, the clock id is computed from the tid.
 */
#include "os/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/lib-names.h>
#endif

#include "base/atomic.h"
#include "base/compiler.h"
#include "link_cancel.h"
#include "os/os.h"

#pragma weak dlopen

/* PIDFD_THREAD of newer headers. */
#define OF_A_THREAD ((unsigned)O_EXCL)

/* A clock id: ~tid, a bit for "of a thread", two bits for "CPU time as scheduled". */
#define CLOCK_BITS    3
#define CLOCK_KIND    7u
#define THREAD_TIME   6u
#define CLOCK_OF(tid) ((clockid_t)(~(tid) << CLOCK_BITS | THREAD_TIME))

fib_noinline int fib_os_thread_start(pthread_t *ret, void *(*fn)(void *), void *arg)
{
	sigset_t all, before;
	int rc;

	fib_os_stay_loaded();
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(ret, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

fib_noinline int fib_os_thread_try_join(pthread_t thread, void **ret)
{
	if (pthread_equal(thread, pthread_self()))
		return -EDEADLK;
	return -pthread_tryjoin_np(thread, ret);
}

fib_noinline int fib_os_thread_join(pthread_t thread, void **ret)
{
	return -pthread_join(thread, ret);
}

fib_noinline int fib_os_thread_may_end(void)
{
#ifdef __GLIBC__
	static _Atomic int loaded;

	if (dlopen && !fib_load(&loaded)) {
		if (!dlopen(LIBGCC_S_SO, RTLD_NOW))
			return -EAGAIN;
		fib_store(&loaded, 1);
	}
#endif
	return 0;
}

static int tid_of(pthread_t thread, pid_t *ret)
{
	clockid_t clock;
	int rc = pthread_getcpuclockid(thread, &clock);

	if (rc)
		return -rc;
	if (((unsigned)clock & CLOCK_KIND) != THREAD_TIME)
		return -ENOSYS;
	*ret = (pid_t) ~(clock >> CLOCK_BITS);
	return *ret > 0 ? 0 : -ENOSYS;
}

fib_noinline int fib_os_thread_open(pthread_t thread)
{
	pid_t tid = 0, again = 0;
	int rc, fd;

	rc = tid_of(thread, &tid);
	if (rc < 0)
		return rc;
	fd = (int)syscall(SYS_pidfd_open, tid, OF_A_THREAD);
	if (fd < 0 && errno != ESRCH)
		return -errno;
	rc = tid_of(thread, &again);
	if (rc == 0 && fd >= 0 && again == tid)
		return fd;
	if (fd >= 0)
		close(fd);
	return -ESRCH;
}

fib_noinline int64_t fib_os_thread_cpu_of(uint32_t tid)
{
	struct timespec t;

	/* In a clock id, tid 0 is the caller. */
	if (!tid)
		return -ESRCH;
	if (clock_gettime(CLOCK_OF(tid), &t) < 0)
		return -errno;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

fib_noinline int fib_os_thread_stack(pthread_t thread, uint64_t *ret_low, uint64_t *ret_high)
{
	pthread_attr_t attr;
	size_t size = 0;
	void *low = NULL;
	int rc = pthread_getattr_np(thread, &attr);

	if (rc)
		return -rc;
	rc = pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	if (rc)
		return -rc;
	*ret_low = (uint64_t)(uintptr_t)low;
	*ret_high = *ret_low + size;
	return 0;
}

fib_noinline int fib_os_thread_signal(uint32_t tid, int number)
{
	fib_os_link_cancel();
	return syscall(SYS_tgkill, getpid(), tid, number) < 0 ? -errno : 0;
}
