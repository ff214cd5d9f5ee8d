/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - 64-bit RISC-V: read and move the register tp */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stddef.h>

#define FIB_ARCH_RSEQ_SIGNATURE 0xf1401073u

static inline void *fib_arch_tp(void)
{
	void *tp;

	__asm__ volatile("mv %0, tp" : "=r"(tp));
	return tp;
}

static inline void fib_arch_tp_move(void *tp)
{
	__asm__ volatile("mv tp, %0" : : "r"(tp) : "memory");
}

#endif
