/* SPDX-License-Identifier: MIT */
/*
 * own.c - memory of the library itself; see own.h
 *
 * The allocator is that of the process, which may be a sanitizer's. It is looked up by name, because
 * --wrap does not reach that.
 */
#include "libc/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "base/check.h"

/* The function of this name in the process. *at is a pointer to a function, NULL until the first call. */
static void *found(_Atomic(void *) *at, const char *name)
{
	void *fn = fib_load_acquire(at);

	if (fn)
		return fn;
	fn = dlsym(RTLD_DEFAULT, name);
	fib_check(fn);
	fib_store_release(at, fn);
	return fn;
}

void *fib_own_malloc(size_t size)
{
	static void *_Atomic fn;

	return ((void *(*)(size_t))found(&fn, "malloc"))(size);
}

void *fib_own_calloc(size_t n, size_t size)
{
	static void *_Atomic fn;

	return ((void *(*)(size_t, size_t))found(&fn, "calloc"))(n, size);
}

void *fib_own_realloc(void *at, size_t size)
{
	static void *_Atomic fn;

	return ((void *(*)(void *, size_t))found(&fn, "realloc"))(at, size);
}

void *fib_own_aligned_alloc(size_t alignment, size_t size)
{
	static void *_Atomic fn;

	return ((void *(*)(size_t, size_t))found(&fn, "aligned_alloc"))(alignment, size);
}

void fib_own_free(void *at)
{
	static void *_Atomic fn;

	((void (*)(void *))found(&fn, "free"))(at);
}

char *fib_own_strdup(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = fib_own_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}
