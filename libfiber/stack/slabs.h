/* SPDX-License-Identifier: MIT */
/* slabs.h - which address space holds stacks of the pool: readable without a lock, also in a signal handler. */
#ifndef FIB_STACK_SLABS_H
#define FIB_STACK_SLABS_H

#include <stddef.h>
#include <stdint.h>

enum fib_slab_part {
	FIB_SLAB_NONE,	/* no slab of ours */
	FIB_SLAB_GUARD, /* the guard below some stack */
	FIB_SLAB_STACK	/* a stack that a fiber has, a free one, or room for one */
};

/* Note that [low, low + size) is a slab of stacks of that class, for ever. 0, -ENOMEM. Any thread. */
int fib_slabs_add(const void *low, size_t size, unsigned class);

/* What lies at address. From anywhere, async-signal-safe; takes as long as there are slabs. */
enum fib_slab_part fib_slabs_find(uint64_t address);

/* While the process forks: no thread is in fib_slabs_add(). */
void fib_slabs_lock(void);
void fib_slabs_unlock(void);

#endif
