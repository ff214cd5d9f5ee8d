/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - s390x: read and move the access registers a0 and a1 */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stdint.h>

/* What stands before the abort handlers of rseq(2). */
#define FIB_ARCH_RSEQ_SIGNATURE 0xb2ff0fffu

static inline void *fib_arch_tp(void)
{
	uint64_t tp;

	__asm__ volatile("ear %0, %%a0\n\t"
			 "sllg %0, %0, 32\n\t"
			 "ear %0, %%a1"
			 : "=d"(tp));
	return (void *)tp;
}

/* Never called: fib_arch_tp_can_move() is false. */
static inline void fib_arch_tp_move(void *tp)
{
	(void)tp;
}

#endif
