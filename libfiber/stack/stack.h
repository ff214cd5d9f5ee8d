/* SPDX-License-Identifier: MIT */
/*
 * stack.h - one stack: memory with a guard below and a coloured top
 */
#ifndef FIB_STACK_STACK_H
#define FIB_STACK_STACK_H

#include <stddef.h>
#include <stdint.h>

struct fib_stack {
	void *low;	 /* lowest usable byte; the guard ends here */
	size_t size;	 /* usable bytes, the colour included */
	uint32_t colour; /* bytes left free at the top, so that tops do not share cache sets */
	uint16_t class;	 /* of the pool; FIB_STACK_FOREIGN: the caller's memory */
	uint16_t unused;
};

#define FIB_STACK_FOREIGN 0xffffu
#define FIB_STACK_GUARD	  (16u << 10)
#define FIB_STACK_MIN	  (16u << 10)
#define FIB_STACK_DEFAULT (256u << 10)
#define FIB_STACK_MAX	  ((size_t)1 << 30)

#endif
