/* SPDX-License-Identifier: MIT */
/*
 * threads.c - the end of a thread as something to wait for beside other things
 *
 * A pthread_t can be joined, which blocks and which a deadline in the middle must not do by half, and no more. But
 * Linux gives a descriptor that becomes readable at the end of a thread, for its tid (since 6.9). The tid of
 * another thread is nowhere in the interface of threads, except that the clock of its CPU time has it in its
 * name: that is how the kernel's interface defines such names, so every C library must make them like that.
 *
 * A tid is used again when its thread has ended. So after the descriptor was opened the name is asked for once more: while
 * the thread still has it, the descriptor was of that thread.
 *
 * The kernel takes back the tid, which is what the C library joins by, before it announces the end.
 *
 * A carrier says its tid itself. To ask for its CPU time, the name of its clock is made from that, the other way round.
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
#include "os/os.h"

#pragma weak dlopen

/* PIDFD_THREAD of newer headers. */
#define OF_A_THREAD ((unsigned)O_EXCL)

/* A clock's name: ~tid, a bit for "of a thread", two bits for "CPU time as scheduled". */
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

	/* In a clock's name 0 is the caller. */
	if (!tid)
		return -ESRCH;
	if (clock_gettime(CLOCK_OF(tid), &t) < 0)
		return -errno;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
