/* SPDX-License-Identifier: MIT */
/*
 * thread_pointer.c - s390x: fibers have no thread-locals of their own
 *
 * The head of a thread's block is like that of x86-64. But two instructions move the pointer, and a
 * signal handler between them would run with half of each.
 */
#include "arch/arch.h"

bool fib_arch_tp_can_move(void)
{
	return false;
}

void fib_arch_tp_head(void *tp)
{
	(void)tp;
}

void *fib_arch_tp_modules(void *tp)
{
	return tp;
}
