/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - s390x: where a signal has interrupted a thread
 *
 * A system call that failed with EINTR is not repeated: its first argument was in r2, where the result
 * is now, and the kernel keeps the argument to itself.
 */
#include "arch/arch.h"

#include <string.h>
#include <ucontext.h>

bool fib_arch_interrupted(void *ucontext, struct fib_context *ret)
{
	const mcontext_t *at = &((const ucontext_t *)ucontext)->uc_mcontext;

	memset(ret, 0, sizeof *ret);
	ret->sp = at->gregs[15];
	ret->fp = at->gregs[11];
	ret->pc = at->psw.addr;
	return true;
}

uint64_t fib_arch_interrupted_sp(const void *ucontext)
{
	return ((const ucontext_t *)ucontext)->uc_mcontext.gregs[15];
}
