/* SPDX-License-Identifier: MIT */
/*
 * core_running.c - what a running fiber in a core did
 *
 * The thread whose stack pointer is in the fiber's stack ran it. A core has the number of the system
 * call that each thread was in. The thread that a signal ended was in none, although its registers may
 * still have the number of the call that raised the signal.
 */
#include "inspect/corefile/core_running.h"

#include "inspect/corefile/core_status.h"

int ins_core_running(struct ins_source *source, const struct ins_core *core,
		     struct ins_running *ret)
{
	const struct fib_row *row = &ret->fiber.row;
	const struct ins_core_status *t = ins_core_status_on(core, row->stack_low, row->stack_size);
	struct ins_thread_stack stack;
	int rc;

	if (!t)
		return 0;
	rc = ins_thread_stack_registers(source, (uint64_t)t->tid, &t->registers, &stack);
	if (rc < 0)
		return rc;
	stack.call = core->crash.signal && core->crash.thread == t->tid ? -1 : t->call;
	/* Every thread in a core was stopped. */
	ins_running_take(&stack, true, ret);
	ins_thread_stack_free(&stack);
	return 0;
}
