/* SPDX-License-Identifier: MIT */
/* thread_stack_walk.h - walk the stack of a plain thread */
#ifndef INS_THREAD_STACK_WALK_H
#define INS_THREAD_STACK_WALK_H

#include "inspect/model/thread_stack.h"
#include "inspect/unwind/unwind.h"

/*
 * Walk a row that was read with stacks: a fiber (unwind.h), or a thread (INS_FIBER_THREAD). A
 * thread without a stack has no frames and a reason. The stack of a running fiber whose thread sleeps
 * is read from the source.
 */
void ins_walk_row(struct ins_unwinder *unwinder, const struct ins_fiber *row, struct ins_walk *ret);

/* Walk up to the outermost frame. If there is no stack, there are no frames and a reason. */
void ins_thread_stack_walk(struct ins_unwinder *unwinder, const struct ins_thread_stack *stack,
			   struct ins_walk *ret);

#endif
