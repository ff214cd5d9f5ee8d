/* SPDX-License-Identifier: MIT */
/* off_stack.h - wait for a fiber to wait. */
#ifndef HARNESS_OFF_STACK_H
#define HARNESS_OFF_STACK_H

#include <sched.h>

#include "core/record.h"

/* Until fiber is in that state and has left its stack. It says that it is suspended, or dead, a little earlier, while
 * whoever looks still sees it run. */
static inline void harness_off_stack(struct fiber *fiber, enum fiber_state state)
{
	while (fiber_state(fiber) != state || (fib_load_acquire(&fiber->seq) & 1))
		sched_yield();
}

#endif
