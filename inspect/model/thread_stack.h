/* SPDX-License-Identifier: MIT */
/*
 * thread_stack.h - where a plain thread is, and its stack
 *
 * A thread that holds what fibers wait for is not a fiber. If it sleeps in the kernel, the kernel
 * gives its position, to the program's service thread (control socket, snapshot) as well as to this
 * tool (a live process). In a core its registers give it. No thread is stopped for this, so a
 * running thread has no stack.
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
	int64_t call; /* the system call it sleeps in; -1: none; or INS_THREAD_STACK_CALL_UNKNOWN */
	char why[96]; /* why there is no stack; else "" */
	/* For a walk: pc, sp, other known registers, and the stack. All other fields are unused. */
	struct ins_fiber fiber;
	unsigned char *bytes; /* owned: the bytes of the stack */
};

/*
 * Read a thread by its number in the process. Returns 0, also if there is no stack; -EOPNOTSUPP if
 * the program, or the writer of the snapshot, is too old to answer; or another negative errno.
 * After 0 the caller frees *ret.
 */
int ins_thread_stack_read(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);
void ins_thread_stack_free(struct ins_thread_stack *stack);

/* -- for sources -- */

/*
 * Decode a frame's payload (wire/thread.h) about thread tid. Returns 0; -EPROTO if it is invalid,
 * -ENOMEM.
 */
int ins_thread_stack_take(const void *payload, size_t length, uint64_t tid,
			  struct ins_thread_stack *ret);

/*
 * Set *ret for a thread with these registers and its stack in the source's memory. NULL: there is
 * no such thread. Returns 0 or -ENOMEM.
 */
int ins_thread_stack_registers(struct ins_source *source, uint64_t tid,
			       const struct ins_registers *registers, struct ins_thread_stack *ret);

/*
 * Reset *ret to thread tid with only its state. The second one also frees the old contents; it
 * always returns 0.
 */
void ins_thread_stack_begin(struct ins_thread_stack *ret, uint64_t tid,
			    enum fib_wire_thread_state state);
int ins_thread_stack_none(struct ins_thread_stack *ret, uint64_t tid,
			  enum fib_wire_thread_state state);

#endif
