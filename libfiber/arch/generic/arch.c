/* SPDX-License-Identifier: MIT */
/*
 * arch.c - switching with ucontext, on any machine with a C library
 *
 * This port is slow (each switch makes two system calls for the signal mask) and its stacks cannot
 * be walked, but it runs everywhere. For ucontext the signal mask is part of a context. Here it
 * belongs to the thread, and a fiber runs on many threads. The saved context is in the frame of
 * fib_arch_switch() itself, on the stack that is being left, so a context needs no memory of its
 * own.
 *
 * swapcontext() saves and leaves in one step, so the arriving context reports that the other one
 * has left: it finds the counter in its own context, in place of the frame pointer.
 */
#include "arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "base/atomic.h"
#include "layout/layout.h"

const char fib_arch_name[] = "generic";
const uint32_t fib_arch_machine = EM_NONE;
const uint32_t fib_arch_recipe = FIB_RECIPE_NONE;

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = *ret_high = 0;
}

/* The start data of a new context; above its first frame. */
struct beginning {
	ucontext_t saved;
	struct fib_context *self;
	void (*fn)(void *);
	void *arg;
};

/* Runs on the stack of self, which was just switched to. */
static void arrive(struct fib_context *self)
{
	_Atomic uint64_t *left = (_Atomic uint64_t *)(uintptr_t)self->fp;

	self->fp = 0;
	if (left)
		/* label: record.seq */
		fib_store_release(left, fib_load(left) + 1);
}

/* makecontext() passes only ints: a pointer is passed in two halves. */
static void start(unsigned high, unsigned low)
{
	struct beginning *b = (struct beginning *)(uintptr_t)((uint64_t)high << 32 | low);

	arrive(b->self);
	b->fn(b->arg);
}

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	struct beginning *b;
	uint64_t at;

	if (size < sizeof *b + 4096)
		return -EINVAL;
	b = (struct beginning *)(((uintptr_t)low + size - sizeof *b) & ~(uintptr_t)63);
	at = (uint64_t)(uintptr_t)b;
	if (getcontext(&b->saved) < 0)
		return -ENOTSUP; /* a C library without working contexts */
	b->self = context;
	b->fn = fn;
	b->arg = arg;
	b->saved.uc_stack.ss_sp = low;
	b->saved.uc_stack.ss_size = (uintptr_t)b - (uintptr_t)low;
	b->saved.uc_link = NULL;
	makecontext(&b->saved, (void (*)(void))start, 2, (unsigned)(at >> 32), (unsigned)at);
	context->sp = at;
	context->fp = context->pc = 0;
	context->saved = &b->saved;
	return 0;
}

void fib_arch_inherit(struct fib_context *context)
{
	(void)context; /* makecontext() sets none: a context keeps its predecessor's */
}

void fib_arch_share(struct fib_context *context)
{
	(void)context; /* swapcontext() has no choice */
}

void fib_arch_switch(struct fib_context *from, struct fib_context *to, _Atomic uint64_t *left)
{
	ucontext_t here, *there = to->saved;

	from->sp = (uint64_t)(uintptr_t)&here;
	from->saved = &here;
	/* The saved mask is that of the thread that made or left the context; continue with the
	 * mask of this thread. */
	pthread_sigmask(SIG_SETMASK, NULL, &there->uc_sigmask);
	to->fp = (uint64_t)(uintptr_t)left;
	swapcontext(&here, there);
	arrive(from);
}

_Noreturn void fib_arch_jump(struct fib_context *to)
{
	ucontext_t *there = to->saved;

	pthread_sigmask(SIG_SETMASK, NULL, &there->uc_sigmask);
	setcontext(there);
	abort(); /* not reached: a context saved here can be set here */
}

_Noreturn void fib_arch_start(struct fib_context *context, void *top, void (*fn)(void *), void *arg)
{
	/* The first frame overwrites the caller's oldest frames, which are never returned to. */
	if (fib_arch_init(context, (char *)top - FIB_FRAME_START, FIB_FRAME_START, fn, arg) < 0)
		abort();
	fib_arch_jump(context);
}

void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
{
	context->sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	context->fp = context->pc = 0;
	context->saved = NULL;
	fn(arg);
}

bool fib_arch_interrupted(void *ucontext, struct fib_context *ret)
{
	(void)ucontext;
	(void)ret;
	return false;
}

uint64_t fib_arch_interrupted_sp(const void *ucontext)
{
	(void)ucontext;
	return 0;
}

bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL])
{
	(void)before;
	return false;
}
