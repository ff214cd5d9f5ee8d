/* SPDX-License-Identifier: MIT */
/*
 * own_tls.c - fibers have no thread-locals of their own here
 *
 * libfiber knows how glibc makes the block of a thread. It does not know it of the C libraries of these
 * systems. fib_os_own_tls_find() says so; what needs a block is then never called.
 */
#include "os/own_tls.h"

#include <errno.h>

int fib_os_own_tls_find(void *(*home)(void), const char **ret_why)
{
	(void)home;
	*ret_why = "thread-locals of fibers need glibc";
	return -ENOTSUP;
}

int fib_os_own_tls_take(void **ret)
{
	(void)ret;
	return -ENOMEM;
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
