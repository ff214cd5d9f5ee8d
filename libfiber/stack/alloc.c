/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - stacks from the pool for contexts that are not fibers
 *
 * Callers get all the bytes they ask for, so the colour is added to the size. The data that the
 * pool needs to take the stack back is in the caller's struct, not in a table that would have to be
 * searched.
 */
#include <fiber/context.h>

#include <errno.h>

#include "fault.h"
#include "base/check.h"
#include "context/context.h"
#include "stack/class.h"
#include "stack/pool.h"

/* The contents of the opaque part of a struct fiber_stack. */
enum { OPAQUE_SIZE, OPAQUE_COLOUR, OPAQUE_CLASS };

int fiber_stack_alloc(size_t size, struct fiber_stack *ret)
{
	struct fib_stack stack;
	int rc;

	if (!ret || size > FIB_STACK_MAX)
		return -EINVAL;
	rc = fib_fault(MEMORY);
	if (rc == 0)
		rc = fib_stack_take(NULL, size + FIB_STACK_COLOURS, &stack);
	if (rc < 0)
		return rc;
	ret->base = stack.low;
	ret->size = fib_stack_usable(&stack);
	ret->opaque[OPAQUE_SIZE] = stack.size;
	ret->opaque[OPAQUE_COLOUR] = stack.colour;
	ret->opaque[OPAQUE_CLASS] = stack.class;
	return 0;
}

void fiber_stack_free(struct fiber_stack *stack)
{
	struct fib_stack give;

	fib_must_have(stack, "the stack");
	if (!stack->base)
		return;
	give = (struct fib_stack){.low = stack->base,
				  .size = stack->opaque[OPAQUE_SIZE],
				  .colour = (uint32_t)stack->opaque[OPAQUE_COLOUR],
				  .class = (uint16_t)stack->opaque[OPAQUE_CLASS]};
	give.guard = (uint16_t)(fib_class_guard(give.class) / FIB_GUARD_MIN);
	/* A context that was never released was left in the middle of its frames. */
	fib_announce_clean(give.low, give.size);
	fib_stack_give(NULL, &give);
	stack->base = NULL;
	stack->size = 0;
}
