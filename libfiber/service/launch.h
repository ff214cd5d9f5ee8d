/* SPDX-License-Identifier: MIT */
/* launch.h - start the service thread and wait until its startup is over. See launch.c. */
#ifndef FIB_SERVICE_LAUNCH_H
#define FIB_SERVICE_LAUNCH_H

#include <pthread.h>
#include <stdint.h>

struct fib_launch {
	_Atomic uint32_t done; /* A: launch.done */
};

/*
 * Start a thread that blocks all signals, and wait until it calls fib_launch_done(). 0, or a
 * negative errno.
 */
int fib_launch(struct fib_launch *launch, pthread_t *ret, void *(*fn)(void *), void *arg);

/* Called by the thread after the system calls that it makes only at startup. */
void fib_launch_done(struct fib_launch *launch);

/*
 * Sleep until a time of fib_os_now(), with the one call that every sandbox must allow. Called by
 * the thread.
 */
void fib_launch_sleep(struct fib_launch *launch, int64_t until);

#endif
