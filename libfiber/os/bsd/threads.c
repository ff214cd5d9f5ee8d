/* SPDX-License-Identifier: MIT */
/*
 * threads.c - make and join threads
 *
 * Neither system has a descriptor that is readable once a thread has exited. Each join of a running
 * thread by a fiber takes a helper thread.
 */
#include "os/threads.h"

#include <errno.h>
#include <signal.h>

#include "base/compiler.h"
#include "os/os.h"

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

/* pthread_cancel(3) loads nothing here. */
fib_noinline int fib_os_thread_may_end(void)
{
	return 0;
}

fib_noinline int fib_os_thread_join(pthread_t thread, void **ret)
{
	return -pthread_join(thread, ret);
}

fib_noinline int fib_os_thread_open(pthread_t thread)
{
	(void)thread;
	return -ENOSYS;
}
