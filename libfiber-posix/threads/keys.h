/* SPDX-License-Identifier: MIT */
/* keys.h - pthread_key_create(3): which keys exist, and their destructors */
#ifndef FPX_THREADS_KEYS_H
#define FPX_THREADS_KEYS_H

#include <pthread.h>
#include <stdint.h>

int fpx_key_create(pthread_key_t *ret, void (*destroy)(void *));
int fpx_key_delete(pthread_key_t key);

/*
 * The use of a number as a key. The next key with the same number is another use. 0: the number is no
 * key that was made here.
 */
uint64_t fpx_key_use(pthread_key_t key);

/* The destructor of that use; NULL: it has none, or the key was deleted. */
void (*fpx_key_destructor(pthread_key_t key, uint64_t use))(void *);

/* Keys that were made here have smaller numbers. */
unsigned fpx_keys_most(void);

/* Call the destructors for the values of the caller, a fiber with thread-locals of its own. */
void fpx_keys_end(void);

#endif
