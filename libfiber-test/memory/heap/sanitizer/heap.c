/* SPDX-License-Identifier: MIT */
/*
 * heap.c - learn of allocations from the sanitizer whose malloc() the program has
 *
 * A block that is allocated again is new memory, as in ../glibc/heap.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "memory/actors.h"
#include "memory/heap.h"
#include "memory/shadow.h"

/* As in <sanitizer/allocator_interface.h>, which gcc does not install. */
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *at,
								size_t size),
					      void (*freed)(const volatile void *at));

static void allocated(const volatile void *at, size_t size)
{
	const struct fib_actor *me;

	if (!at || !fib_actors_on())
		return;
	me = fib_actor_self();
	fib_shadow_renew((uintptr_t)at, size, me ? me->number : FIB_CELL_SHARED);
}

static void freed(const volatile void *at)
{
	(void)at;
}

void fib_heap_begin(void)
{
	static bool installed;

	if (!installed)
		fib_check(__sanitizer_install_malloc_and_free_hooks(allocated, freed));
	installed = true;
}
