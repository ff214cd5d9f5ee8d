/* SPDX-License-Identifier: MIT */
/* thread_stack_walk.c - walk the stack of a plain thread */
#include "inspect/unwind/thread_stack_walk.h"

#include <stdio.h>
#include <string.h>

#include "inspect/unwind/frame_guess.h"

void ins_thread_stack_walk(struct ins_unwinder *unwinder, const struct ins_thread_stack *stack,
			   struct ins_walk *ret)
{
	memset(ret, 0, sizeof *ret - sizeof ret->pc);
	if (stack->why[0])
		snprintf(ret->reason, sizeof ret->reason, "%s", stack->why);
	else if (stack->fiber.registers.known || !ins_frame_guess(unwinder, &stack->fiber, ret))
		ins_unwind_thread(unwinder, &stack->fiber, ret);
}
