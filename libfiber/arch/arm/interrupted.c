/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - 32-bit ARM: where a signal has interrupted a thread
 *
 * A system call that failed with EINTR is not repeated: its first argument was in r0, where the result
 * is now, and the kernel keeps the argument to itself.
 */
#include "arch/arch.h"

#include <string.h>
#include <ucontext.h>

bool fib_arch_interrupted(void *ucontext, struct fib_context *ret)
{
	const mcontext_t *at = &((const ucontext_t *)ucontext)->uc_mcontext;

	memset(ret, 0, sizeof *ret);
	ret->sp = at->arm_sp;
	ret->fp = at->arm_fp;
	ret->pc = at->arm_pc;
	return true;
}

uint64_t fib_arch_interrupted_sp(const void *ucontext)
{
	return ((const ucontext_t *)ucontext)->uc_mcontext.arm_sp;
}
