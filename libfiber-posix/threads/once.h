/* SPDX-License-Identifier: MIT */
/* once.h - pthread_once_t between fibers and threads */
#ifndef FPX_THREADS_ONCE_H
#define FPX_THREADS_ONCE_H

#include <pthread.h>

void fpx_once(pthread_once_t *once, void (*call)(void));

#endif
