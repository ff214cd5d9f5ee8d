/* SPDX-License-Identifier: MIT */
/*
 * launch.c - start the service thread and wait until its startup is over
 *
 * A program may forbid itself system calls as soon as it has a runtime (libfiber(7)). A new thread
 * makes some calls only once: those of the C library, for its name, its first memory. So the
 * starting thread waits until they have been made.
 */
#include "service/launch.h"

#include <signal.h>

#include "base/atomic.h"
#include "os/os.h"

#define STACK_SIZE (256u << 10)

static void await(struct fib_launch *launch)
{
	/* pairs: launch.done */
	while (!fib_load_acquire(&launch->done))
		fib_os_futex_wait(&launch->done, 0, INT64_MAX);
}

int fib_launch(struct fib_launch *launch, pthread_t *ret, void *(*fn)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int rc;

	fib_store(&launch->done, 0);
	rc = pthread_attr_init(&attr);
	if (rc)
		return -rc;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	/* The program's signals must be delivered to the program's threads. */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = pthread_create(ret, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		await(launch);
	return -rc;
}

void fib_launch_done(struct fib_launch *launch)
{
	/* label: launch.done -- the startup is over. */
	fib_store_release(&launch->done, 1);
	fib_os_futex_wake(&launch->done, 1);
}

void fib_launch_sleep(struct fib_launch *launch, int64_t until)
{
	while (fib_os_now() < until && fib_os_futex_wait(&launch->done, 1, until) == 0)
		;
}
