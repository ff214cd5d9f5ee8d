/* SPDX-License-Identifier: MIT */
/*
 * class.h - the stacks of one size that nobody has
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

static inline size_t fib_class_size(unsigned class)
{
	return (size_t)FIB_STACK_MIN << class;
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
