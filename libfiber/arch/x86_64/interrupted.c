/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - x86-64: where a signal has interrupted a thread
 *
 * The thread was running when the signal was sent, and may have entered a system call since. A call
 * that the signal made fail with EINTR is repeated (repeat.c).
 */
#include "arch/arch.h"

#include <string.h>
#include <ucontext.h>

#include "repeat.h"

bool fib_arch_interrupted(void *ucontext, struct fib_context *ret)
{
	ucontext_t *u = ucontext;
	const greg_t *at = u->uc_mcontext.gregs;

	fib_x86_repeat(u);
	memset(ret, 0, sizeof *ret);
	ret->sp = (uint64_t)at[REG_RSP];
	ret->fp = (uint64_t)at[REG_RBP];
	ret->pc = (uint64_t)at[REG_RIP];
	return true;
}

uint64_t fib_arch_interrupted_sp(const void *ucontext)
{
	return (uint64_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RSP];
}
