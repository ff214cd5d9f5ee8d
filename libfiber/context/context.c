/* SPDX-License-Identifier: MIT */
/*
 * context.c - the one place that switches
 *
 * fib_arch_switch is called from fib_context_switch only, and that is never inlined: a single place tells the
 * sanitizers, and where nobody listens it is a jump.
 */
#include "context/context.h"

#include "base/compiler.h"

int fib_context_begin(struct fib_context *context, struct fib_announce *announce, void *low,
		      size_t size, void (*fn)(void *), void *arg)
{
	fib_announce_create(announce, low, size);
	return fib_arch_init(context, low, size, fn, arg);
}

int fib_context_init(struct fib_context *context, struct fib_announce *announce, void *low,
		     size_t size, void (*fn)(void *), void *arg)
{
	fib_context_inherit(context);
	return fib_context_begin(context, announce, low, size, fn, arg);
}

void fib_context_adopt(struct fib_announce *announce)
{
	fib_announce_create(announce, NULL, 0);
}

void fib_context_done(struct fib_announce *announce)
{
	fib_announce_destroy(announce);
}

fib_noinline void fib_context_switch(struct fib_context *from, struct fib_announce *from_announce,
				     struct fib_context *to, struct fib_announce *to_announce,
				     _Atomic uint64_t *left)
{
	fib_announce_leave(from_announce, to_announce, false);
	fib_arch_switch(from, to, left);
	fib_announce_enter(from_announce);
}

_Noreturn void fib_context_leave(struct fib_announce *from, struct fib_context *to,
				 struct fib_announce *to_announce)
{
	fib_announce_bury(from, to_announce);
	fib_announce_leave(from, to_announce, true);
	fib_arch_jump(to);
}

void fib_context_begun(struct fib_announce *announce)
{
	fib_announce_enter(announce);
}
