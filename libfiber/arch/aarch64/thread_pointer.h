/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - aarch64: read and move the register tpidr_el0 */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stddef.h>

#define FIB_ARCH_RSEQ_SIGNATURE 0xd428bc00u

static inline void *fib_arch_tp(void)
{
	void *tp;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

static inline void fib_arch_tp_move(void *tp)
{
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory");
}

#endif
