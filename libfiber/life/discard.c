/* SPDX-License-Identifier: MIT */
/* discard.c - free the parts of a fiber */
#include "life/discard.h"

#include "core/locals.h"
#include "core/registry.h"
#include "os/own_tls.h"

void fib_withdraw_stack(struct fib_carrier *c, struct fiber *fiber)
{
	if (fiber->stack.low)
		fib_context_done(&fiber->announce);
	else
		fib_stack_unpromise(c ? &c->stacks : NULL, fiber->stack.class);
}

void fib_drop_locals(struct fiber *fiber)
{
	struct fib_locals *locals = fiber->locals;

	fiber->locals = NULL;
	fib_fence_compiler(); /* see grow() in core/locals.c */
	fib_locals_free(locals);
}

void fib_unmake(struct fiber *fiber)
{
	fib_drop_locals(fiber);
	if (fiber->tls)
		fib_os_own_tls_give(fiber->tls);
	fiber->tls = NULL;
	fib_withdraw_stack(fib_carrier_self(), fiber);
	fiber->group = NULL;
	fiber->arg = NULL; /* see runtime/gc_roots.c */
	fib_free_record(fib_carrier_self(), fiber);
}
