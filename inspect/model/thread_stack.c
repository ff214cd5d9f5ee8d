/* SPDX-License-Identifier: MIT */
/* thread_stack.c - where a plain thread stands, and its stack. */
#include "inspect/model/thread_stack.h"

#include <errno.h>
#include <fiber/fiber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/unwind/frame_guess.h"
#include "inspect/process/thread.h"

#define MOST  (1u << 20) /* bytes copied of a stack that we can read */
#define PAGE  4096u
#define TRIES 8
/* What is above the copy of a stack that was cut: not where it ends, but all of it is the stack's. */
#define BEYOND (UINT64_C(64) << 20)

static void begin(struct ins_thread_stack *ret, uint64_t tid, enum fib_wire_thread_state state)
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

/* What there is of its stack: size bytes at ret->bytes, from its sp upwards. */
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
	/* A newer process may say more between the two. */
	if (is.tid != tid || is.stack_size > length - sizeof is ||
	    (is.state == FIB_WIRE_THREAD_SLEEPS) != (is.stack_size > 0))
		return -EPROTO;
	begin(ret, tid, is.state);
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

/* As much as there is in a row from ret's sp upwards, MOST bytes of it. How many. */
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

static int give_none(struct ins_thread_stack *ret, uint64_t tid, enum fib_wire_thread_state state)
{
	ins_thread_stack_free(ret);
	begin(ret, tid, state);
	return 0;
}

int ins_thread_stack_registers(struct ins_source *source, uint64_t tid,
			       const struct ins_registers *registers, struct ins_thread_stack *ret)
{
	size_t size;

	begin(ret, tid, registers ? FIB_WIRE_THREAD_SLEEPS : FIB_WIRE_THREAD_ENDED);
	if (!registers)
		return 0;
	ret->bytes = malloc(MOST);
	if (!ret->bytes)
		return -ENOMEM;
	ins_registers_give(registers, &ret->fiber);
	size = copy(source, ret);
	if (!size)
		return give_none(ret, tid, FIB_WIRE_THREAD_GONE);
	give_stack(ret, size, false);
	return 0;
}

/* How often it gave up its CPU: "" where nobody says. Who sleeps as often as before has not run since. */
static void count_sleeps(const struct ins_source *source, uint64_t tid, char buf[32])
{
	ins_thread_status(source->pid, tid, "voluntary_ctxt_switches", buf, 32);
}

static enum fib_wire_thread_state nowhere(int rc)
{
	if (rc == 0)
		return FIB_WIRE_THREAD_RUNS;
	return rc == -ENOENT || rc == -ESRCH ? FIB_WIRE_THREAD_ENDED : FIB_WIRE_THREAD_HIDDEN;
}

/* One look: it has slept in the same place all the time, or not. -EAGAIN: not; -ENOMEM. */
static int look(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	struct ins_registers registers = {0};
	struct fib_sleeper_place before, after;
	char slept[32], sleeps[32];
	int rc;

	count_sleeps(source, tid, slept);
	rc = ins_thread_place(source->pid, tid, &before);
	if (rc != 1)
		return give_none(ret, tid, nowhere(rc));
	registers.pc = before.pc;
	registers.sp = before.sp;
	rc = ins_thread_stack_registers(source, tid, &registers, ret);
	if (rc < 0)
		return rc;
	rc = ins_thread_place(source->pid, tid, &after);
	count_sleeps(source, tid, sleeps);
	if (rc != 1 || before.call != after.call || before.sp != after.sp ||
	    before.pc != after.pc || strcmp(slept, sleeps) != 0)
		return -EAGAIN;
	ret->call = before.call;
	return 0;
}

int ins_thread_stack_live(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	char name[INS_THREAD_NAME];
	int rc = -EAGAIN;
	unsigned i;

	begin(ret, tid, FIB_WIRE_THREAD_HIDDEN);
	/* Where it has other numbers for its threads than we do, this one is somebody else. */
	if (ins_thread_look(source->pid, tid, name) == INS_THREAD_UNKNOWN)
		return 0;
	for (i = 0; rc == -EAGAIN && i < TRIES; i++) {
		ins_thread_stack_free(ret);
		rc = look(source, tid, ret);
	}
	return rc == -EAGAIN ? give_none(ret, tid, FIB_WIRE_THREAD_MOVED) : rc;
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

void ins_thread_stack_walk(struct ins_unwinder *unwinder, const struct ins_thread_stack *stack,
			   struct ins_walk *ret)
{
	memset(ret, 0, sizeof *ret - sizeof ret->pc);
	if (stack->why[0])
		snprintf(ret->reason, sizeof ret->reason, "%s", stack->why);
	else if (stack->fiber.registers.known || !ins_frame_guess(unwinder, &stack->fiber, ret))
		ins_unwind_thread(unwinder, &stack->fiber, ret);
}
