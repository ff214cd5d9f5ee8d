/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - x86-64: read and move the base of the segment fs */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stdbool.h>

/* What stands before the abort handlers of rseq(2). */
#define FIB_ARCH_RSEQ_SIGNATURE 0x53053053u

/* I, before main(): a program may write the base itself. */
extern bool fib_arch_tp_writable __attribute__((visibility("hidden")));
void fib_arch_tp_move_by_call(void *tp);

static inline void *fib_arch_tp(void)
{
	void *tp;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

static inline void fib_arch_tp_move(void *tp)
{
	if (__builtin_expect(fib_arch_tp_writable, 1))
		__asm__ volatile("wrfsbase %0" : : "r"(tp) : "memory");
	else
		fib_arch_tp_move_by_call(tp);
}

#endif
