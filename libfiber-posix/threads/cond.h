/* SPDX-License-Identifier: MIT */
/* cond.h - pthread_cond_t between fibers and threads */
#ifndef FPX_THREADS_COND_H
#define FPX_THREADS_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Whether this library keeps waits for it with that mutex. */
bool fpx_cond_kept(const pthread_cond_t *cond, const pthread_mutex_t *mutex);

/* clock: NULL: the condition's own. at: NULL: never. Results as those of pthread_cond_timedwait(3). */
int fpx_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const clockid_t *clock,
		  const struct timespec *at);
int fpx_cond_signal(pthread_cond_t *cond);
int fpx_cond_broadcast(pthread_cond_t *cond);

#endif
