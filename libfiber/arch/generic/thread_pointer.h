/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - a port that cannot move the thread pointer */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stddef.h>

#define FIB_ARCH_RSEQ_SIGNATURE 0u

static inline void *fib_arch_tp(void)
{
	return NULL;
}

static inline void fib_arch_tp_move(void *tp)
{
	(void)tp;
}

#endif
