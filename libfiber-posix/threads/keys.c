/* SPDX-License-Identifier: MIT */
/*
 * keys.c - pthread_key_create(3): which keys exist, and their destructors
 *
 * The C library makes the keys. What it knows of them cannot be asked, so it is recorded here.
 *
 * The C library uses the number of a deleted key again. A use of a number is counted: odd while the key
 * exists. A value of the deleted key has another use, and is not taken for one of the new key.
 *
 * The values of a fiber with thread-locals of its own are in its block, where the C library puts and
 * finds them. At the end of a thread it calls the destructors itself; at the end of a fiber this does.
 * Those of other fibers are in values.c.
 */
#include "threads/keys.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "system/native.h"

#define EXISTS UINT64_C(1)

/* A, by number. */
static struct {
	uint64_t use;
	void (*destroy)(void *); /* A: keys.destroy */
} keys[PTHREAD_KEYS_MAX];

static unsigned most; /* A */

static void raise_most(pthread_key_t key)
{
	unsigned before = __atomic_load_n(&most, __ATOMIC_RELAXED);

	while (before <= key && !__atomic_compare_exchange_n(&most, &before, key + 1, false,
							     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

int fpx_key_create(pthread_key_t *ret, void (*destroy)(void *))
{
	pthread_key_t key;
	const int rc = fpx_native.pthread_key_create(&key, destroy);

	if (rc)
		return rc;
	/* The use before may be odd: then code that does not call this library has deleted the key. */
	__atomic_store_n(&keys[key].use,
			 (__atomic_load_n(&keys[key].use, __ATOMIC_RELAXED) + 1) | EXISTS,
			 __ATOMIC_RELAXED);
	/* label: keys.destroy -- a thread that reads it reads this use, or a later one, after it. */
	__atomic_store_n(&keys[key].destroy, destroy, __ATOMIC_RELEASE);
	raise_most(key);
	*ret = key;
	return 0;
}

/* Before the C library may give the number to another thread. */
int fpx_key_delete(pthread_key_t key)
{
	uint64_t use = fpx_key_use(key);

	if (use)
		__atomic_compare_exchange_n(&keys[key].use, &use, use + 1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return fpx_native.pthread_key_delete(key);
}

uint64_t fpx_key_use(pthread_key_t key)
{
	uint64_t use =
		key < PTHREAD_KEYS_MAX ? __atomic_load_n(&keys[key].use, __ATOMIC_RELAXED) : 0;

	return use & EXISTS ? use : 0;
}

void (*fpx_key_destructor(pthread_key_t key, uint64_t use))(void *)
{
	/* pairs: keys.destroy */
	void (*destroy)(void *) = __atomic_load_n(&keys[key].destroy, __ATOMIC_ACQUIRE);

	return use == fpx_key_use(key) ? destroy : NULL;
}

unsigned fpx_keys_most(void)
{
	return __atomic_load_n(&most, __ATOMIC_ACQUIRE);
}

/* Returns whether there was a value, whose destructor may have set others. */
static bool end_one(pthread_key_t key)
{
	const uint64_t use = fpx_key_use(key);
	void (*destroy)(void *) = use ? fpx_key_destructor(key, use) : NULL;
	void *value = destroy ? fpx_native.pthread_getspecific(key) : NULL;

	if (!value)
		return false;
	fpx_native.pthread_setspecific(key, NULL);
	destroy(value);
	return true;
}

void fpx_keys_end(void)
{
	const unsigned n = fpx_keys_most();
	bool again = n > 0;

	for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
		again = false;
		for (unsigned key = 0; key < n; key++)
			again |= end_one(key);
	}
}
