/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - x86-64: where a signal has interrupted a thread
 *
 * The thread was running when the signal was sent, and may have entered a system call since. After
 * a handler with SA_RESTART the kernel restarts most calls. Calls that sleep for some time return
 * -EINTR, which a program whose signals are blocked never sees otherwise. So these are repeated
 * here: the registers still hold the call's arguments, except its number, which the instruction
 * before it loads in almost all system calls of the C library.
 */
#include "arch/arch.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

#define LOAD_SIZE 7u /* mov $number, %eax; syscall */
#define LOAD	  0xb8

static bool ends_call(const unsigned char *pc)
{
	/* The memory before the start of a page may be unmapped. */
	return ((uintptr_t)pc & 4095) >= LOAD_SIZE && pc[-2] == 0x0f && pc[-1] == 0x05 &&
	       pc[-(int)LOAD_SIZE] == LOAD;
}

bool fib_arch_interrupted(void *ucontext, struct fib_context *ret)
{
	ucontext_t *u = ucontext;
	greg_t *at = u->uc_mcontext.gregs;

	if (at[REG_RAX] == -EINTR && ends_call((const unsigned char *)at[REG_RIP]))
		at[REG_RIP] -= LOAD_SIZE;
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
