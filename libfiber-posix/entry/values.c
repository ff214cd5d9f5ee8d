/* SPDX-License-Identifier: MIT */
/*
 * values.c - pthread_key_create(3), pthread_getspecific(3), and their names of C11
 *
 * A sanitizer keeps its data of a thread under a key, and finds it by these names. So they are in the
 * shared library alone, which such a program does not use.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "entry/entry.h"
#include "system/native.h"
#include "threads/keys.h"
#include "threads/values.h"

/* Whether the value is one of the calling fiber, in the table of the library. */
static inline bool keeps(const void *caller, pthread_key_t key)
{
	return !fpx_own_tls && fpx_is_fiber(caller) && fpx_value_kept(key);
}

FPX_ENTRY int pthread_key_create(pthread_key_t *ret, void (*destroy)(void *))
{
	return fpx_key_create(ret, destroy);
}

FPX_ENTRY int pthread_key_delete(pthread_key_t key)
{
	return fpx_key_delete(key);
}

FPX_ENTRY void *pthread_getspecific(pthread_key_t key)
{
	return keeps(FPX_CALLER, key) ? fpx_value(key) : fpx_native.pthread_getspecific(key);
}

FPX_ENTRY int pthread_setspecific(pthread_key_t key, const void *value)
{
	return keeps(FPX_CALLER, key) ? fpx_value_set(key, value)
				      : fpx_native.pthread_setspecific(key, value);
}

/* -- C11: the C library does not call those above by name -- */

static int result(int error)
{
	return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}

FPX_ENTRY int tss_create(tss_t *ret, tss_dtor_t destroy)
{
	return result(fpx_key_create(ret, destroy));
}

FPX_ENTRY void tss_delete(tss_t key)
{
	fpx_key_delete(key);
}

FPX_ENTRY void *tss_get(tss_t key)
{
	return keeps(FPX_CALLER, key) ? fpx_value(key) : fpx_native.pthread_getspecific(key);
}

FPX_ENTRY int tss_set(tss_t key, void *value)
{
	return result(keeps(FPX_CALLER, key) ? fpx_value_set(key, value)
					     : fpx_native.pthread_setspecific(key, value));
}

/* -- other names of the same functions -- */

FPX_ALIAS(pthread_key_create)
int __pthread_key_create(pthread_key_t *ret, void (*destroy)(void *)) __THROW __nonnull((1));
FPX_ALIAS(pthread_getspecific) void *__pthread_getspecific(pthread_key_t key) __THROW;
FPX_ALIAS(pthread_setspecific)
int __pthread_setspecific(pthread_key_t key, const void *value) __THROW;
