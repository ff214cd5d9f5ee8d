/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - 64-bit PowerPC: where a signal has interrupted a thread
 *
 * The thread was running when the signal was sent, and may have entered a system call since. After
 * a handler with SA_RESTART the kernel restarts most calls. Calls that sleep for some time fail with
 * EINTR, which a program whose signals are blocked never sees otherwise. So these are repeated here:
 * the kernel keeps the call's number in r0, and its first argument beside the registers.
 */
#include "arch/arch.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <string.h>
#include <ucontext.h>

#define CALL	      0x44000002u /* sc */
#define CALL_VECTORED 0x44000001u /* scv 0 */
#define TRAP_VECTORED 0x3000u
#define TRAP_CALL     0xc00u
#define FAILED	      0x10000000u /* in CR: the summary overflow of cr0 */

/* Whether the call has failed with EINTR. The one kind returns the negative number, the other one a flag. */
static bool in_call(const unsigned long *at)
{
	const uint32_t *const next = (const uint32_t *)at[PT_NIP];

	if ((at[PT_NIP] & 4095) == 0)
		return false;
	if ((at[PT_TRAP] & ~15ul) == TRAP_CALL)
		return (at[PT_CCR] & FAILED) && at[PT_R3] == EINTR && next[-1] == CALL;
	return (at[PT_TRAP] & ~15ul) == TRAP_VECTORED && at[PT_R3] == -(unsigned long)EINTR &&
	       next[-1] == CALL_VECTORED;
}

bool fib_arch_interrupted(void *ucontext, struct fib_context *ret)
{
	ucontext_t *u = ucontext;
	unsigned long *at = u->uc_mcontext.gp_regs;

	if (in_call(at)) {
		at[PT_NIP] -= 4;
		at[PT_R3] = at[PT_ORIG_R3];
	}
	memset(ret, 0, sizeof *ret);
	ret->sp = at[PT_R1];
	ret->fp = at[PT_R31];
	ret->pc = at[PT_NIP];
	return true;
}

uint64_t fib_arch_interrupted_sp(const void *ucontext)
{
	return ((const ucontext_t *)ucontext)->uc_mcontext.gp_regs[PT_R1];
}
