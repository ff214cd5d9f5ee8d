/* SPDX-License-Identifier: MIT */
/*
 * class.h - the free stacks of one size with guards of one size
 *
 * The caller of these functions holds the lock, except for fib_class_trim().
 */
#ifndef FIB_STACK_CLASS_H
#define FIB_STACK_CLASS_H

#include <stdbool.h>

#include "stack/stack.h"

/* L: all fields, under lock. Zeroed memory is an empty class. */
struct fib_stack_class {
	_Atomic uint32_t lock;
	/* Below `cold` the stacks without pages, some also without a guard yet; then those with pages, newest last. Has room for
	 * all that were cut. */
	struct fib_stack *free;
	size_t room;
	size_t count;
	size_t cold;
	size_t promised; /* at most count */
	size_t cut;	 /* number of stacks ever made */
	size_t trimmed;	 /* how often a stack has lost its pages */
	size_t idle;	 /* minimum number of stacks with pages since the last trim */
	char *next;	 /* in the newest slab */
	char *guarded;	 /* the stacks from next up to here have their guard */
	char *end;
	unsigned colour;
	bool locked; /* memory of new slabs is: no guard can be made inside it, so none waits */
};

/* A class is a size of stacks and a size of guards, both powers of two: 16 KiB << 0 .. 16, 4 KiB <<
 * 0 .. 14. */
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

/* Add a stack that keeps its pages, to be taken first; or one without pages, to be taken last. */
void fib_class_push(struct fib_stack_class *c, const struct fib_stack *stack);
void fib_class_push_cold(struct fib_stack_class *c, const struct fib_stack *stack);

/* Take a stack, which has its guard; the class must not be empty. */
void fib_class_pop(struct fib_stack_class *c, struct fib_stack *ret);

/* The same, but the stack may have no guard yet. The caller makes it, without the lock. */
void fib_class_pop_bare(struct fib_stack_class *c, struct fib_stack *ret);

/*
 * Guard those of the n stacks of one class that have no guard yet; neighbours in one call. Takes a
 * microsecond for each. Without the lock if they were taken. If it fails, the program ends.
 */
void fib_class_guard_waiting(struct fib_stack *stacks, unsigned n);

/* Make a new stack, which is not put into the class; class is the number of c. Returns 0, or
 * -ENOMEM, also when no guard can be made. */
int fib_class_cut(struct fib_stack_class *c, unsigned class, struct fib_stack *ret);

/* Make a new stack and put it into the class without pages, and without a guard if that can wait.
 * Returns the errors of fib_class_cut(). */
int fib_class_cut_cold(struct fib_stack_class *c, unsigned class);

/* Drop the pages of the stacks that were idle since the last call, the oldest ones. Takes the lock
 * itself, for one stack at a time: no thread takes that stack meanwhile, and none waits long. */
void fib_class_trim(struct fib_stack_class *c);

#endif
