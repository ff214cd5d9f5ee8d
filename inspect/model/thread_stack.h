/* SPDX-License-Identifier: MIT */
/*
 * thread_stack.h - where a plain thread stands, and its stack
 *
 * A thread that holds what fibers wait for is no fiber. One that sleeps in the system stands where the kernel says, for the
 * program's service thread (control socket, snapshot) as for us (a live process); one of a core where its registers say. Nobody
 * is stopped for it, so one that runs has no stack.
 */
#ifndef INS_THREAD_STACK_H
#define INS_THREAD_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/model/source.h"
#include "wire/thread.h"

#define INS_THREAD_STACK_CALL_UNKNOWN INT64_MIN

struct ins_thread_stack {
	uint64_t tid;
	enum fib_wire_thread_state state;
	int64_t call; /* the system call that it sleeps in, -1: none, INS_THREAD_STACK_CALL_UNKNOWN: nobody says */
	char why[96]; /* why there is no stack; else "" */
	/* What is walked: pc, sp, what else is known of its registers, and its stack. No other field says anything. */
	struct ins_fiber fiber;
	unsigned char *bytes; /* owned: the stack's */
};

/*
 * What is known of a thread by the number that the process has for it. 0, also where there is no stack; -EOPNOTSUPP where the
 * source cannot tell, since the program, or who wrote the snapshot, is too old for the question; or another negative errno.
 * After 0 it is the caller's to free.
 */
int ins_thread_stack_read(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);
void ins_thread_stack_free(struct ins_thread_stack *stack);

/* -- for sources -- */

/* Decode a frame's payload (wire/thread.h) about thread tid. 0; -EPROTO when it makes no sense, -ENOMEM. */
int ins_thread_stack_take(const void *payload, size_t length, uint64_t tid,
			  struct ins_thread_stack *ret);

/* Of a thread with these registers, whose stack is in the source's memory. NULL: there is no such thread. 0 or -ENOMEM. */
int ins_thread_stack_registers(struct ins_source *source, uint64_t tid,
			       const struct ins_registers *registers, struct ins_thread_stack *ret);

/* Start over about thread tid, of which nothing but its state is known. The second one frees what was there; always 0. */
void ins_thread_stack_begin(struct ins_thread_stack *ret, uint64_t tid,
			    enum fib_wire_thread_state state);
int ins_thread_stack_none(struct ins_thread_stack *ret, uint64_t tid,
			  enum fib_wire_thread_state state);

#endif
