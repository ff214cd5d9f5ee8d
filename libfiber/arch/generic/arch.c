/* SPDX-License-Identifier: MIT */
/*
 * arch.c - switching with ucontext, on any machine with a C library
 *
 * Slow (each switch is two system calls for the signal mask) and not walkable, but it runs everywhere. ucontext
 * counts the mask as part of a context; we do not: it is the thread's, and a fiber runs on many. The
 * saved context lives in the frame of fib_arch_switch itself, on the stack that is being left, so a
 * context needs no memory of its own.
 */
#include "arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "layout/layout.h"

const char fib_arch_name[] = "generic";
const uint32_t fib_arch_machine = EM_NONE;
const uint32_t fib_arch_recipe = FIB_RECIPE_NONE;

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = *ret_high = 0;
}

/* makecontext passes ints only: a pointer travels in two halves. */
static void start(unsigned fn_high, unsigned fn_low, unsigned arg_high, unsigned arg_low)
{
	uintptr_t fn = (uintptr_t)((uint64_t)fn_high << 32 | fn_low);
	uintptr_t arg = (uintptr_t)((uint64_t)arg_high << 32 | arg_low);

	((void (*)(void *))fn)((void *)arg);
}

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	uintptr_t top = ((uintptr_t)low + size - sizeof(ucontext_t)) & ~(uintptr_t)63;
	ucontext_t *saved = (ucontext_t *)top;
	uint64_t f = (uint64_t)(uintptr_t)fn, a = (uint64_t)(uintptr_t)arg;

	if (size < sizeof(ucontext_t) + 4096)
		return -EINVAL;
	if (getcontext(saved) < 0)
		return -ENOTSUP; /* a C library whose contexts are for show */
	saved->uc_stack.ss_sp = low;
	saved->uc_stack.ss_size = top - (uintptr_t)low;
	saved->uc_link = NULL;
	makecontext(saved, (void (*)(void))start, 4, (unsigned)(f >> 32), (unsigned)f,
		    (unsigned)(a >> 32), (unsigned)a);
	context->sp = (uint64_t)top;
	context->fp = context->pc = 0;
	context->saved = saved;
	return 0;
}

void fib_arch_switch(struct fib_context *from, struct fib_context *to)
{
	ucontext_t here, *there = to->saved;

	from->sp = (uint64_t)(uintptr_t)&here;
	from->saved = &here;
	/* It comes with the mask of the thread that made or left it, and must go on with ours. */
	pthread_sigmask(SIG_SETMASK, NULL, &there->uc_sigmask);
	swapcontext(&here, there);
}

void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
{
	context->sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	context->fp = context->pc = 0;
	context->saved = NULL;
	fn(arg);
}
