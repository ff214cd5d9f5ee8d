/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - i386: where a signal has interrupted a thread
 *
 * A system call that failed with EINTR is not repeated: its number was in eax, where the result is now,
 * and the C library makes its calls through the kernel's own code, where none loads it.
 */
#include "arch/arch.h"

#include <string.h>
#include <ucontext.h>

bool fib_arch_interrupted(void *ucontext, struct fib_context *ret)
{
	const greg_t *at = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;

	memset(ret, 0, sizeof *ret);
	ret->sp = (uint32_t)at[REG_ESP];
	ret->fp = (uint32_t)at[REG_EBP];
	ret->pc = (uint32_t)at[REG_EIP];
	return true;
}

uint64_t fib_arch_interrupted_sp(const void *ucontext)
{
	return (uint32_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_ESP];
}
