/* SPDX-License-Identifier: MIT */
/* own_tls.c - no fiber has thread-locals of its own: one thread runs all carriers, in turns */
#include "os/own_tls.h"

#include <errno.h>

int fib_os_own_tls_find(void *(*home)(void), const char **ret_why)
{
	(void)home;
	*ret_why = "libfiber-test runs all fibers on one thread";
	return -ENOTSUP;
}

int fib_os_own_tls_take(void **ret)
{
	*ret = NULL;
	return -ENOTSUP;
}

void fib_os_own_tls_give(void *tp)
{
	(void)tp;
}

void fib_os_own_tls_begin(void)
{
}

void fib_os_own_tls_end(void)
{
}

void fib_os_own_tls_range(void *tp, const void **ret_low, const void **ret_high)
{
	*ret_low = *ret_high = tp;
}

void **fib_os_own_tls_word(void *tp)
{
	static void *none;

	(void)tp;
	return &none;
}

bool fib_os_own_tls_is(const void *tp)
{
	(void)tp;
	return false;
}

int fib_os_own_tls_number(void)
{
	return 0;
}

void fib_os_own_tls_lock(void)
{
}

void fib_os_own_tls_unlock(void)
{
}

void fib_os_own_tls_forget(void)
{
}
