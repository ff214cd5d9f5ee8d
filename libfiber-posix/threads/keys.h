/* SPDX-License-Identifier: MIT */
/* keys.h - pthread_key_create(3) in fibers with thread-locals of their own */
#ifndef FPX_THREADS_KEYS_H
#define FPX_THREADS_KEYS_H

#include <pthread.h>

int fpx_key_create(pthread_key_t *ret, void (*destroy)(void *));
int fpx_key_delete(pthread_key_t key);

/* Call the destructors for the caller's values. */
void fpx_keys_end(void);

#endif
