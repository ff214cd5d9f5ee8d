/* SPDX-License-Identifier: MIT */
/* sem.h - sem_t between fibers and threads */
#ifndef FPX_THREADS_SEM_H
#define FPX_THREADS_SEM_H

#include <semaphore.h>
#include <stdint.h>

/* By a fiber. Returns 0 or a negative errno. */
int fpx_sem_wait(sem_t *sem, int64_t deadline);

/* After the C library's sem_post(3): wake a fiber that waits. Also in a signal handler. */
void fpx_sem_wake(sem_t *sem);

#endif
