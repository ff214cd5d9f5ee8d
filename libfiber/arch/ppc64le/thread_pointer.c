/* SPDX-License-Identifier: MIT */
/*
 * thread_pointer.c - 64-bit PowerPC: fibers have no thread-locals of their own
 *
 * The C library keeps a thread's own data below the thread pointer, where x86-64 has it above, and
 * libfiber/os/linux/own_tls.c copies what is above.
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
