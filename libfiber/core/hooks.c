/* SPDX-License-Identifier: MIT */
/* hooks.c - call the functions of a garbage collector */
#include "core/hooks.h"

#include <stddef.h>

const struct fiber_gc_hooks *_Atomic fib_hooks;

void fib_hooks_created(struct fiber *fiber)
{
	const struct fiber_gc_hooks *hooks = fib_hooks_now();

	if (hooks && hooks->fiber_created)
		hooks->fiber_created(fiber, hooks->arg);
}

void fib_hooks_ended(struct fiber *fiber)
{
	const struct fiber_gc_hooks *hooks = fib_hooks_now();

	if (hooks && hooks->fiber_ended)
		hooks->fiber_ended(fiber, hooks->arg);
}

void fib_hooks_thread_began(struct fib_hooked *ret)
{
	ret->hooks = fib_hooks_now();
	ret->thread = NULL;
	if (ret->hooks && ret->hooks->thread_began)
		ret->thread = ret->hooks->thread_began(ret->hooks->arg);
}

void fib_hooks_thread_ended(const struct fib_hooked *hooked)
{
	if (hooked->hooks && hooked->hooks->thread_ended)
		hooked->hooks->thread_ended(hooked->thread, hooked->hooks->arg);
}
