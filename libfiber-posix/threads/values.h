/* SPDX-License-Identifier: MIT */
/* values.h - pthread_getspecific(3) in fibers without thread-locals of their own */
#ifndef FPX_THREADS_VALUES_H
#define FPX_THREADS_VALUES_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Set by a fiber with thread-locals of its own when it begins: its values are the C library's.
 * Initial-exec: the library is never loaded later than the program.
 */
extern __thread bool fpx_values_own __attribute__((tls_model("initial-exec")));

/* Whether the value of a fiber without fpx_values_own is kept here. If not, it is the carrier's. */
bool fpx_value_kept(pthread_key_t key);

/* As pthread_getspecific(3) and pthread_setspecific(3), where fpx_value_kept(). Never wait. */
void *fpx_value(pthread_key_t key);
int fpx_value_set(pthread_key_t key, const void *value);

#endif
