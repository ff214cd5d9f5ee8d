/* SPDX-License-Identifier: MIT */
/*
 * thread_pointer.c - i386: fibers have no thread-locals of their own
 *
 * The head of a thread's block is like that of x86-64. But a segment of the table that the kernel has for each
 * thread would have to be changed by a system call at each switch.
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
