/* SPDX-License-Identifier: MIT */
/*
 * class.h - the free stacks of one size with guards of one size
 *
 * All of it under the lock, which the caller takes.
 */
#ifndef FIB_STACK_CLASS_H
#define FIB_STACK_CLASS_H

#include "stack/stack.h"

/* L: all under lock. Zeroed is empty. */
struct fib_stack_class {
	_Atomic uint32_t lock;
	/* Below `cold` those without pages, then the warm ones, newest last. Has room for all that were cut. */
	struct fib_stack *free;
	size_t room;
	size_t count;
	size_t cold;
	size_t promised; /* at most count */
	size_t cut;	 /* ever */
	size_t trimmed;	 /* ever: those that lost their pages */
	size_t idle;	 /* the fewest warm ones there were since the last trim */
	char *next;	 /* in the newest slab */
	char *guarded;	 /* as far as this stacks from next on have their guard */
	char *end;
	unsigned colour;
};

/* A class is a size of stacks and a size of guards, both powers of two: 16 KiB << 0 .. 16, 4 KiB << 0 .. 14. */
#define FIB_CLASS_SIZES	 17u
#define FIB_CLASS_GUARDS 15u
#define FIB_CLASSES	 (FIB_CLASS_SIZES * FIB_CLASS_GUARDS)

static inline size_t fib_class_size(unsigned class)
{
	return (size_t)FIB_STACK_MIN << class % FIB_CLASS_SIZES;
}

static inline size_t fib_class_guard(unsigned class)
{
	return (size_t)FIB_GUARD_MIN << class / FIB_CLASS_SIZES;
}

/* Add one that keeps its pages, as the first that will be taken; one without, as the last. */
void fib_class_push(struct fib_stack_class *c, const struct fib_stack *stack);
void fib_class_push_cold(struct fib_stack_class *c, const struct fib_stack *stack);

/* Take one; there is one. */
void fib_class_pop(struct fib_stack_class *c, struct fib_stack *ret);

/* Make a new one, which is in use at once; class is that of c. 0, -ENOMEM, also when no guard can be made. */
int fib_class_cut(struct fib_stack_class *c, unsigned class, struct fib_stack *ret);

/* Drop the pages of those that lay idle since the last time: the oldest ones. Takes the lock itself, for one at a
 * time, so that nobody takes it meanwhile, or waits for long. */
void fib_class_trim(struct fib_stack_class *c);

#endif
