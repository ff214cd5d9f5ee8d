/* SPDX-License-Identifier: MIT */
/* rwlock.h - pthread_rwlock_t between fibers and threads */
#ifndef FPX_THREADS_RWLOCK_H
#define FPX_THREADS_RWLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* By a fiber. Returns as pthread_rwlock_timedrdlock(3). Not cancellable. */
int fpx_rwlock_lock(pthread_rwlock_t *lock, bool writes, int64_t deadline);

/* By a fiber or a thread: unlock in the C library, and wake the fibers that wait. */
int fpx_rwlock_unlock(pthread_rwlock_t *lock);

#endif
