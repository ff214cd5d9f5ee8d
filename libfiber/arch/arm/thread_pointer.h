/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - 32-bit ARM: the register that only the kernel writes */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stddef.h>

/* What stands before the abort handlers of rseq(2). */
#define FIB_ARCH_RSEQ_SIGNATURE 0xe7f5def3u

static inline void *fib_arch_tp(void)
{
	return __builtin_thread_pointer();
}

/* Never called: fib_arch_tp_can_move() is false. */
static inline void fib_arch_tp_move(void *tp)
{
	(void)tp;
}

#endif
