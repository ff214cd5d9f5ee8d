/* SPDX-License-Identifier: MIT */
/* launch.h - start the service thread, and wait until it is past its start. See launch.c. */
#ifndef FIB_SERVICE_LAUNCH_H
#define FIB_SERVICE_LAUNCH_H

#include <pthread.h>
#include <stdint.h>

struct fib_launch {
	_Atomic uint32_t done; /* A: launch.done */
};

/* Start a thread that blocks all signals, and wait until it calls fib_launch_done(). 0, or a negative errno. */
int fib_launch(struct fib_launch *launch, pthread_t *ret, void *(*fn)(void *), void *arg);

/* The thread has made every system call that it makes at start only. By the thread. */
void fib_launch_done(struct fib_launch *launch);

/* Sleep until a time of fib_os_now(), with the one call that every sandbox has to allow. By the thread, after that. */
void fib_launch_sleep(struct fib_launch *launch, int64_t until);

#endif
