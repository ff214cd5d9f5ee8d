/* SPDX-License-Identifier: MIT */
/*
 * thread_pointer.c - ports whose fibers have no thread-locals of their own
 *
 * A port without a thread_pointer.c of its own gets this one. libfiber/os/linux/own_tls.c makes blocks as x86-64 has
 * them. Elsewhere:
 * - aarch64, arm, ppc, ppc64le, riscv64: the C library keeps a thread's own data below the thread pointer, and
 *   own_tls.c copies what is above;
 * - i386: a segment of the table that the kernel has for each thread would have to be changed by a system call at
 *   each switch;
 * - s390x: two instructions move the pointer, and a signal handler between them would run with half of each;
 * - generic: where the pointer is depends on the machine.
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
