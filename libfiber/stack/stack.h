/* SPDX-License-Identifier: MIT */
/* stack.h - one stack: memory with a guard below it and a coloured top */
#ifndef FIB_STACK_STACK_H
#define FIB_STACK_STACK_H

#include <stddef.h>
#include <stdint.h>

struct fib_stack {
	void *low;	 /* lowest usable byte; the guard ends here */
	size_t size;	 /* usable bytes, including the colour */
	uint32_t colour; /* bytes left free at the top, so that tops are in different cache sets */
	uint16_t class;	 /* in the pool; FIB_STACK_FOREIGN: memory of the caller */
	uint16_t guard; /* guard below it, in units of FIB_GUARD_MIN; 0: none of ours, or not yet */
};

#define FIB_STACK_FOREIGN 0xffffu
#define FIB_STACK_GUARD	  (64u << 10) /* the default; see guard.c */
#define FIB_STACK_MIN	  (16u << 10)
#define FIB_STACK_DEFAULT (256u << 10)
#define FIB_STACK_MAX	  ((size_t)1 << 30)
#define FIB_GUARD_MIN	  (4u << 10)
#define FIB_GUARD_MAX	  ((size_t)64 << 20)

/* The number of bytes below the stack that certainly fault on access. */
static inline size_t fib_stack_guard(const struct fib_stack *stack)
{
	return (size_t)stack->guard * FIB_GUARD_MIN;
}

#endif
