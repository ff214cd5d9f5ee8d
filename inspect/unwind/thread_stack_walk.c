/* SPDX-License-Identifier: MIT */
/* thread_stack_walk.c - walk the stack of a plain thread */
#include "inspect/unwind/thread_stack_walk.h"

#include <fiber/fiber.h>
#include <stdio.h>
#include <string.h>

#include "inspect/unwind/frame_guess.h"

/* The kernel says only sp and pc of a thread that sleeps. */
static void walk(struct ins_unwinder *unwinder, const struct ins_fiber *thread,
		 struct ins_walk *ret)
{
	if (thread->registers.known || !ins_frame_guess(unwinder, thread, ret))
		ins_unwind_thread(unwinder, thread, ret);
}

void ins_walk_row(struct ins_unwinder *unwinder, const struct ins_fiber *row, struct ins_walk *ret)
{
	if (!(row->flags & INS_FIBER_THREAD)) {
		ins_unwind(unwinder, row, ret);
		return;
	}
	memset(ret, 0, sizeof *ret - sizeof ret->pc);
	if (row->stack)
		walk(unwinder, row, ret);
	else
		snprintf(ret->reason, sizeof ret->reason, "%s",
			 row->flags & INS_FIBER_MOVING ? "it went on before its stack was copied"
			 : row->row.state == FIBER_RUNNING ? "it runs; no stack without stopping it"
			 : row->flags & INS_FIBER_GONE	   ? "its stack could not be read"
							   : "the system does not say where it is");
}

void ins_thread_stack_walk(struct ins_unwinder *unwinder, const struct ins_thread_stack *stack,
			   struct ins_walk *ret)
{
	memset(ret, 0, sizeof *ret - sizeof ret->pc);
	if (stack->why[0])
		snprintf(ret->reason, sizeof ret->reason, "%s", stack->why);
	else
		walk(unwinder, &stack->fiber, ret);
}
