/* SPDX-License-Identifier: MIT */
/* thread_stack.c - the stack of a plain thread, from what a source delivers */
#include "inspect/model/thread_stack.h"

#include <errno.h>
#include <fiber/fiber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1u << 20) /* bytes copied of a readable stack */
#define PAGE 4096u
/* If the copy is cut, the end of the stack is unknown: this many bytes above count as stack. */
#define BEYOND (UINT64_C(64) << 20)

void ins_thread_stack_begin(struct ins_thread_stack *ret, uint64_t tid,
			    enum fib_wire_thread_state state)
{
	static const char *const whys[] = {
		[FIB_WIRE_THREAD_RUNS] = "it runs; no stack without stopping it",
		[FIB_WIRE_THREAD_MOVED] = "it went on before its stack was copied",
		[FIB_WIRE_THREAD_ENDED] = "it has ended",
		[FIB_WIRE_THREAD_HIDDEN] = "the system does not say where it is",
		[FIB_WIRE_THREAD_GONE] = "its stack could not be read",
	};

	memset(ret, 0, sizeof *ret);
	ret->tid = tid;
	ret->state = state;
	ret->call = INS_THREAD_STACK_CALL_UNKNOWN;
	if (state == FIB_WIRE_THREAD_SLEEPS)
		return;
	snprintf(ret->why, sizeof ret->why, "%s",
		 (size_t)state < sizeof whys / sizeof whys[0]
			 ? whys[state]
			 : "the program says something of a later version about it");
}

/* Set the stack: size bytes at ret->bytes, from its sp up. */
static void give_stack(struct ins_thread_stack *ret, size_t size, bool cut)
{
	struct ins_fiber *fiber = &ret->fiber;

	fiber->flags = INS_FIBER_THREAD | (cut ? INS_FIBER_CUT : 0);
	fiber->stack = ret->bytes;
	fiber->stack_size = size;
	fiber->row.state = FIBER_SUSPENDED;
	fiber->row.stack_low = fiber->row.sp;
	fiber->row.stack_size = fiber->row.stack_used = size;
	if (cut)
		fiber->row.stack_size += BEYOND;
}

int ins_thread_stack_take(const void *payload, size_t length, uint64_t tid,
			  struct ins_thread_stack *ret)
{
	struct fib_wire_thread_is is;

	if (length < sizeof is)
		return -EPROTO;
	memcpy(&is, payload, sizeof is);
	/* A newer process may send more fields between the two. */
	if (is.tid != tid || is.stack_size > length - sizeof is ||
	    (is.state == FIB_WIRE_THREAD_SLEEPS) != (is.stack_size > 0))
		return -EPROTO;
	ins_thread_stack_begin(ret, tid, is.state);
	if (is.state == FIB_WIRE_THREAD_HIDDEN &&
	    (is.error == -EPERM || is.error == -EACCES || is.error == -ENOSYS))
		snprintf(ret->why, sizeof ret->why,
			 "the program's sandbox refuses openat: where it is cannot be seen");
	if (is.state != FIB_WIRE_THREAD_SLEEPS)
		return 0;
	ret->bytes = malloc(is.stack_size);
	if (!ret->bytes)
		return -ENOMEM;
	memcpy(ret->bytes, (const unsigned char *)payload + length - is.stack_size, is.stack_size);
	ret->call = is.call;
	ret->fiber.row.sp = is.sp;
	ret->fiber.row.pc = is.pc;
	give_stack(ret, is.stack_size, is.cut != 0);
	return 0;
}

/* Copy the contiguous bytes from ret's sp up, at most MOST. Returns their number. */
static size_t copy(struct ins_source *source, struct ins_thread_stack *ret)
{
	const uint64_t from = ret->fiber.row.sp;
	size_t done = 0;

	while (done < MOST) {
		size_t n = PAGE - (from + done) % PAGE;

		n = n < MOST - done ? n : MOST - done;
		if (source->memory(source, from + done, ret->bytes + done, n) < 0)
			break;
		done += n;
	}
	return done;
}

int ins_thread_stack_none(struct ins_thread_stack *ret, uint64_t tid,
			  enum fib_wire_thread_state state)
{
	ins_thread_stack_free(ret);
	ins_thread_stack_begin(ret, tid, state);
	return 0;
}

int ins_thread_stack_registers(struct ins_source *source, uint64_t tid,
			       const struct ins_registers *registers, struct ins_thread_stack *ret)
{
	size_t size;

	ins_thread_stack_begin(ret, tid,
			       registers ? FIB_WIRE_THREAD_SLEEPS : FIB_WIRE_THREAD_ENDED);
	if (!registers)
		return 0;
	ret->bytes = malloc(MOST);
	if (!ret->bytes)
		return -ENOMEM;
	ins_registers_give(registers, &ret->fiber);
	size = copy(source, ret);
	if (!size)
		return ins_thread_stack_none(ret, tid, FIB_WIRE_THREAD_GONE);
	give_stack(ret, size, false);
	return 0;
}

int ins_thread_stack_read(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	return source->ops->thread ? source->ops->thread(source, tid, ret) : -EOPNOTSUPP;
}

void ins_thread_stack_free(struct ins_thread_stack *stack)
{
	free(stack->bytes);
	stack->bytes = NULL;
}
