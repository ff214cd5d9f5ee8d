/* SPDX-License-Identifier: MIT */
/* fibers.h - trivial fiber functions, and a wait until a fiber is suspended */
#ifndef HARNESS_FIBERS_H
#define HARNESS_FIBERS_H

#include <sched.h>
#include <stdbool.h>

#include <fiber.h>

/* Exit at once with the argument. */
static inline void *harness_nothing(void *arg)
{
	return arg;
}

/* Park until unparked or cancelled, then exit with the argument. */
static inline void *harness_park(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

/* A predicate that never holds. */
static inline bool harness_never(void *arg)
{
	(void)arg;
	return false;
}

/* Block this thread until the fiber is suspended. It may still be on its stack: see off_stack.h. */
static inline void harness_await_suspended(const struct fiber *fiber)
{
	while (fiber_state(fiber) != FIBER_SUSPENDED)
		sched_yield();
}

#endif
