/* SPDX-License-Identifier: MIT */
/*
 * keys.c - the destructors of pthread_key_create(3)
 *
 * The values of a fiber with thread-locals of its own are in its block, where the C library puts and
 * finds them. At the end of a thread it calls the destructors itself; at the end of a fiber this does.
 */
#include "threads/keys.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "system/native.h"

static void (*destructors[PTHREAD_KEYS_MAX])(void *); /* A */
static unsigned most;				      /* A: keys from here on have none */

static void set(pthread_key_t key, void (*destroy)(void *))
{
	unsigned before = __atomic_load_n(&most, __ATOMIC_RELAXED);

	__atomic_store_n(&destructors[key], destroy, __ATOMIC_RELEASE);
	while (destroy && before <= key &&
	       !__atomic_compare_exchange_n(&most, &before, key + 1, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

int fpx_key_create(pthread_key_t *ret, void (*destroy)(void *))
{
	const int rc = fpx_native.pthread_key_create(ret, destroy);

	if (rc == 0)
		set(*ret, destroy);
	return rc;
}

int fpx_key_delete(pthread_key_t key)
{
	if (key < PTHREAD_KEYS_MAX)
		set(key, NULL);
	return fpx_native.pthread_key_delete(key);
}

/* Returns whether there was a value, whose destructor may have set others. */
static bool end_one(pthread_key_t key)
{
	void (*destroy)(void *) = __atomic_load_n(&destructors[key], __ATOMIC_ACQUIRE);
	void *value = destroy ? pthread_getspecific(key) : NULL;

	if (!value)
		return false;
	pthread_setspecific(key, NULL);
	destroy(value);
	return true;
}

void fpx_keys_end(void)
{
	const unsigned n = __atomic_load_n(&most, __ATOMIC_ACQUIRE);
	bool again = n > 0;

	for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
		again = false;
		for (unsigned key = 0; key < n; key++)
			again |= end_one(key);
	}
}
