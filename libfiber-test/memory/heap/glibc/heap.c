/* SPDX-License-Identifier: MIT */
/*
 * heap.c - malloc() and the like, in place of the C library's, which they call
 *
 * A block that is allocated again is new memory: earlier accesses to it have nothing to do with
 * later ones. The fiber that allocates it counts as the first that touches it.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "memory/actors.h"
#include "memory/heap.h"
#include "memory/shadow.h"

/* The library's own sources mean others by these names (libc/own.h). */
#undef malloc
#undef calloc
#undef realloc
#undef aligned_alloc

#define PUBLIC __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* NOLINTBEGIN(readability-redundant-declaration): <stdlib.h> declares those of libc/own.h. */
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *at, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
/* NOLINTEND(readability-redundant-declaration) */

void fib_heap_begin(void)
{
}

static void *renewed(void *at, size_t size)
{
	const struct fib_actor *me;

	if (at && fib_actors_on()) {
		me = fib_actor_self();
		fib_shadow_renew((uintptr_t)at, size, me ? me->number : FIB_CELL_SHARED);
	}
	return at;
}

PUBLIC void *malloc(size_t size)
{
	return renewed(__libc_malloc(size), size);
}

PUBLIC void *calloc(size_t n, size_t size)
{
	return renewed(__libc_calloc(n, size), n * size);
}

PUBLIC void *realloc(void *at, size_t size)
{
	const size_t had = at && fib_actors_on() ? malloc_usable_size(at) : 0;
	const uintptr_t before = (uintptr_t)at;
	char *now = __libc_realloc(at, size);

	if ((uintptr_t)now != before)
		renewed(now, size);
	else if (size > had && now)
		renewed(now + had, size - had);
	return now;
}

PUBLIC void *memalign(size_t alignment, size_t size)
{
	return renewed(__libc_memalign(alignment, size), size);
}

PUBLIC void *aligned_alloc(size_t alignment, size_t size)
{
	return renewed(__libc_memalign(alignment, size), size);
}

PUBLIC int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *at;

	if (!alignment || alignment % sizeof(void *) || alignment & (alignment - 1))
		return EINVAL;
	at = renewed(__libc_memalign(alignment, size), size);
	if (!at)
		return ENOMEM;
	*ret = at;
	return 0;
}
