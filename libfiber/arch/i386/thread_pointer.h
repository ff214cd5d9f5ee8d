/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - i386: the base of the segment gs, which only the kernel moves */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stddef.h>

/* What stands before the abort handlers of rseq(2). */
#define FIB_ARCH_RSEQ_SIGNATURE 0x53053053u

static inline void *fib_arch_tp(void)
{
	void *tp;

	__asm__ volatile("mov %%gs:0, %0" : "=r"(tp));
	return tp;
}

/* Never called: fib_arch_tp_can_move() is false. */
static inline void fib_arch_tp_move(void *tp)
{
	(void)tp;
}

#endif
