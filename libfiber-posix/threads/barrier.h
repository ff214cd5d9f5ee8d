/* SPDX-License-Identifier: MIT */
/* barrier.h - pthread_barrier_t between fibers and threads */
#ifndef FPX_THREADS_BARRIER_H
#define FPX_THREADS_BARRIER_H

#include <pthread.h>
#include <stdbool.h>

/* Whether this library initialised it. */
bool fpx_barrier_kept(pthread_barrier_t *barrier);

int fpx_barrier_init(pthread_barrier_t *barrier, unsigned count);
int fpx_barrier_wait(pthread_barrier_t *barrier);
int fpx_barrier_destroy(pthread_barrier_t *barrier);

#endif
