/* SPDX-License-Identifier: MIT */
/*
 * snapshot_running.c - what a running fiber in a snapshot did
 *
 * Threads were read before the fibers and after them. The row of a thread that slept all the time has
 * an age. If its stack pointer is in the fiber's stack, it slept in a system call of that fiber when the
 * fiber was read. Which call is not in the row. No other thread tells anything: one that runs has no
 * stack pointer.
 */
#include "inspect/source/snapshot_running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/source/snapshot.h"

/* Whether the thread slept on the fiber's stack while the fibers were read. */
static bool is_runner(const struct fib_row *thread, const struct fib_row *fiber)
{
	return thread->state == FIBER_SUSPENDED && thread->age > 0 &&
	       thread->sp - fiber->stack_low < fiber->stack_size;
}

int ins_snapshot_running_take(const void *payload, size_t length, struct ins_running *ret)
{
	struct ins_thread_stack thread;
	struct fib_wire_stack s;
	struct fib_row row = {0};

	if (length < sizeof s)
		return 0;
	memcpy(&s, payload, sizeof s);
	if (s.row_size > length - sizeof s || s.stack_size > length - sizeof s - s.row_size)
		return 0;
	memcpy(&row, (const unsigned char *)payload + sizeof s,
	       s.row_size < sizeof row ? s.row_size : sizeof row);
	if (!is_runner(&row, &ret->fiber.row))
		return 0;
	ins_thread_stack_begin(&thread, row.id, FIB_WIRE_THREAD_SLEEPS);
	if (s.stack_size) {
		thread.bytes = malloc(s.stack_size);
		if (!thread.bytes)
			return -ENOMEM;
		memcpy(thread.bytes, (const unsigned char *)payload + sizeof s + s.row_size,
		       s.stack_size);
	}
	thread.fiber.row.sp = row.sp;
	thread.fiber.row.pc = row.pc;
	thread.fiber.row.fp = row.fp;
	thread.fiber.stack = thread.bytes;
	thread.fiber.stack_size = s.stack_size;
	ins_running_take(&thread, false, ret);
	ins_thread_stack_free(&thread);
	ret->doing = INS_DOING_CALLS;
	return 1;
}

int ins_snapshot_running(const struct ins_snapshot *snapshot, struct ins_running *ret)
{
	struct ins_snapshot_frames frames;
	struct fib_wire_header header;
	const void *payload;
	int rc = 0;

	if (!ins_snapshot_answer(snapshot, INS_SNAPSHOT_THREAD_ROWS, &frames))
		return 0;
	while (rc == 0 && ins_snapshot_next(&frames, &header, &payload))
		if (header.type == FIB_WIRE_STACKS)
			rc = ins_snapshot_running_take(payload, header.length, ret);
	return rc < 0 ? rc : 0;
}
