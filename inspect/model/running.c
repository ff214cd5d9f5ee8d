/* SPDX-License-Identifier: MIT */
/* running.c - what a running fiber does, from what a source knows of its thread */
#include "inspect/model/running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <fiber/fiber.h>

#include "inspect/model/call_names.h"

#define LOOK_UPS 1024u /* of one reading: a few for each carrier */

int ins_running_read(struct ins_source *source, const struct ins_fiber *fiber,
		     struct ins_running *ret)
{
	if (!source->ops->running || fiber->flags & INS_FIBER_THREAD ||
	    fiber->row.state != FIBER_RUNNING)
		return -EOPNOTSUPP;
	/* Each costs a look at all threads, or a connection, and a registry may say anything. */
	if (source->looked_up >= LOOK_UPS)
		return -EOPNOTSUPP;
	source->looked_up++;
	ins_running_begin(fiber, ret);
	return source->ops->running(source, ret);
}

void ins_running_free(struct ins_running *running)
{
	free(running->bytes);
	running->bytes = NULL;
	running->fiber.stack = NULL;
}

const char *ins_running_words(enum ins_doing doing, int64_t call, char *buf, size_t size)
{
	const char *name;

	buf[0] = 0;
	switch (doing) {
	case INS_DOING_COMPUTES:
		snprintf(buf, size, "computing");
		break;
	case INS_DOING_CALLS:
		name = ins_call_name(call);
		/* The kernel has restarted a call, and does not say which. */
		if (call == SYS_restart_syscall || call == INS_THREAD_STACK_CALL_UNKNOWN)
			snprintf(buf, size, "in a system call");
		else if (name)
			snprintf(buf, size, "in system call %s", name);
		else
			snprintf(buf, size, "in system call %lld", (long long)call);
		break;
	case INS_DOING_FAULTS:
		snprintf(buf, size, "waiting for memory");
		break;
	case INS_DOING_UNKNOWN:
		break;
	}
	return buf;
}

void ins_running_begin(const struct ins_fiber *fiber, struct ins_running *ret)
{
	*ret = (struct ins_running){.call = -1, .fiber = *fiber};
	ret->fiber.registers.known = 0;
	ret->fiber.context = 0;
	ret->fiber.popped = 0;
	ret->fiber.stack = ret->fiber.aside_bytes = NULL;
	ret->fiber.stack_size = ret->fiber.aside_size = 0;
}

/* Use the thread's stack as the fiber's, from the thread's stack pointer up. */
static void take_stack(struct ins_thread_stack *thread, struct ins_running *ret)
{
	const struct ins_fiber *from = &thread->fiber;
	struct fib_row *row = &ret->fiber.row;
	const uint64_t below = from->row.sp - row->stack_low, used = row->stack_size - below;

	/* Outside: it is in a handler that has a stack of its own, or has left the fiber. */
	if (!thread->bytes || !from->stack || !row->stack_low || below >= row->stack_size)
		return;
	row->sp = from->row.sp;
	row->fp = from->row.fp;
	row->pc = from->row.pc;
	row->stack_used = used;
	ret->fiber.registers = from->registers;
	ret->fiber.flags = (ret->fiber.flags & INS_FIBER_NAMED) | INS_FIBER_PAUSED;
	ret->bytes = thread->bytes;
	thread->bytes = NULL;
	ret->fiber.stack = ret->bytes;
	ret->fiber.stack_size = from->stack_size < used ? from->stack_size : used;
	if (ret->fiber.stack_size < used)
		ret->fiber.flags |= INS_FIBER_CUT;
}

void ins_running_take(struct ins_thread_stack *thread, bool halted, struct ins_running *ret)
{
	if (thread->state == FIB_WIRE_THREAD_RUNS) {
		ret->doing = INS_DOING_COMPUTES;
		return;
	}
	if (thread->state != FIB_WIRE_THREAD_SLEEPS)
		return;
	ret->call = thread->call;
	if (thread->call >= 0)
		ret->doing = INS_DOING_CALLS;
	else if (thread->call == -1)
		ret->doing = halted ? INS_DOING_COMPUTES : INS_DOING_FAULTS;
	take_stack(thread, ret);
}
