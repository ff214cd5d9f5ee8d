/* SPDX-License-Identifier: MIT */
/* values.h - pthread_getspecific(3) in fibers without thread-locals of their own */
#ifndef FPX_THREADS_VALUES_H
#define FPX_THREADS_VALUES_H

#include <pthread.h>
#include <stdbool.h>

/* Whether the value of a fiber without fpx_own_tls is kept here. If not, it is the carrier's. */
bool fpx_value_kept(pthread_key_t key);

/* As pthread_getspecific(3) and pthread_setspecific(3), where fpx_value_kept(). Never wait. */
void *fpx_value(pthread_key_t key);
int fpx_value_set(pthread_key_t key, const void *value);

#endif
