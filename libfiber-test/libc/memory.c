/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the program's own allocations: they may fail, and what a schedule leaves is a leak
 *
 * A program that is linked with `pkg-config --variable=alloc libfiber-test` calls these functions
 * instead of libc's: the linker's option --wrap=malloc makes malloc mean __wrap_malloc, and
 * __real_malloc mean malloc. Other programs do not get this file.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "explore/faults.h"
#include "explore/leaks.h"
#include "libc/own.h"

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *at);

#define CALLER __builtin_return_address(0)

static bool fails(const char *call, const void *caller)
{
	if (!fib_fault_of_allocation(call, caller))
		return false;
	errno = ENOMEM;
	return true;
}

static void *keep(void *at, size_t size, const void *caller)
{
	fib_leaks_add(at, size, caller);
	return at;
}

void *__wrap_malloc(size_t size)
{
	return fails("malloc", CALLER) ? NULL : keep(fib_own_malloc(size), size, CALLER);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails("calloc", CALLER) ? NULL : keep(fib_own_calloc(n, size), n * size, CALLER);
}

void *__wrap_realloc(void *at, size_t size)
{
	void *moved;

	if (fails("realloc", CALLER))
		return NULL;
	/* It may be the address of another block as soon as it is freed. */
	fib_leaks_remove(at);
	moved = fib_own_realloc(at, size);
	if (moved)
		fib_leaks_add(moved, size, CALLER);
	else if (size)
		fib_leaks_add(at, size, CALLER);
	return moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails("aligned_alloc", CALLER)
		       ? NULL
		       : keep(fib_own_aligned_alloc(alignment, size), size, CALLER);
}

char *__wrap_strdup(const char *text)
{
	return fails("strdup", CALLER) ? NULL
				       : keep(fib_own_strdup(text), strlen(text) + 1, CALLER);
}

void __wrap_free(void *at)
{
	fib_leaks_remove(at);
	fib_own_free(at);
}
