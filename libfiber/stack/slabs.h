/* SPDX-License-Identifier: MIT */
/* slabs.h - which address space holds stacks of the pool: readable without a lock, also in a signal
 * handler */
#ifndef FIB_STACK_SLABS_H
#define FIB_STACK_SLABS_H

#include <stddef.h>
#include <stdint.h>

enum fib_slab_part {
	FIB_SLAB_NONE,	/* not in a slab of the pool */
	FIB_SLAB_GUARD, /* the guard below some stack */
	FIB_SLAB_STACK	/* a stack in use, a free one, or room for one */
};

/* Record that [low, low + size) is a slab of stacks of that class; it stays one. Returns 0 or
 * -ENOMEM. Any thread. */
int fib_slabs_add(const void *low, size_t size, unsigned class);

/* Classify address. From anywhere, async-signal-safe. The time is proportional to the number of
 * slabs. */
enum fib_slab_part fib_slabs_find(uint64_t address);

/* The address of the table as layout.h describes it, for readers outside. */
uint64_t fib_slabs_table(void);

/* Lock out other threads while the process forks. */
void fib_slabs_lock(void);
void fib_slabs_unlock(void);

#endif
