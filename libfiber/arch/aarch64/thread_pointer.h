/* SPDX-License-Identifier: MIT */
/* thread_pointer.h - a port that does not move the thread pointer */
#ifndef FIB_ARCH_THREAD_POINTER_H
#define FIB_ARCH_THREAD_POINTER_H

#include <stddef.h>

#define FIB_ARCH_RSEQ_SIGNATURE 0u

/* No address: libfiber-posix may read what is there, and only x86-64 says what that is. */
static inline void *fib_arch_tp(void)
{
	return NULL;
}

static inline void fib_arch_tp_move(void *tp)
{
	(void)tp;
}

#endif
