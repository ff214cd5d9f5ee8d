/* SPDX-License-Identifier: MIT */
/* off_stack.h - wait until a fiber has left its stack */
#ifndef HARNESS_OFF_STACK_H
#define HARNESS_OFF_STACK_H

#include <sched.h>

#include "core/record.h"

/* Block until the fiber is in this state and off its stack. The state (suspended, dead) is
 * published slightly earlier, while observers still see the fiber run. */
static inline void harness_off_stack(struct fiber *fiber, enum fiber_state state)
{
	while (fiber_state(fiber) != state || (fib_load_acquire(&fiber->seq) & 1))
		sched_yield();
}

#endif
