/* SPDX-License-Identifier: MIT */
/* thread_stack_walk.c - walk the stack of a plain thread */
#include "inspect/unwind/thread_stack_walk.h"

#include <fiber/fiber.h>
#include <stdio.h>
#include <string.h>

#include "inspect/model/running.h"
#include "inspect/unwind/frame_guess.h"

/* The kernel says only sp and pc of a thread that sleeps. */
static void walk(struct ins_unwinder *unwinder, const struct ins_fiber *thread,
		 struct ins_walk *ret)
{
	if (thread->registers.known || !ins_frame_guess(unwinder, thread, ret))
		ins_unwind_thread(unwinder, thread, ret);
}

/* A fiber that was read with its thread stopped is walked as it is. */
static bool is_bare(const struct ins_fiber *fiber)
{
	return fiber->row.state == FIBER_RUNNING && !fiber->stack &&
	       !(fiber->flags & (INS_FIBER_PAUSED | INS_FIBER_SWITCHING));
}

static void walk_fiber(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		       struct ins_walk *ret)
{
	struct ins_source *source = ins_unwind_source(unwinder);
	struct ins_running running;

	if (!is_bare(fiber) || ins_running_read(source, fiber, &running) < 0) {
		ins_unwind(unwinder, fiber, ret);
		return;
	}
	ins_unwind(unwinder, running.fiber.stack ? &running.fiber : fiber, ret);
	/* Its stack is no longer missing. */
	if (running.fiber.stack)
		source->passed += (fiber->flags & ~INS_FIBER_NAMED) != 0;
	ins_running_free(&running);
}

void ins_walk_row(struct ins_unwinder *unwinder, const struct ins_fiber *row, struct ins_walk *ret)
{
	if (!(row->flags & INS_FIBER_THREAD)) {
		walk_fiber(unwinder, row, ret);
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
