/* SPDX-License-Identifier: MIT */
/*
 * astray.h - report a fiber that waits with its stack pointer outside its stack
 *
 * A frame that is larger than the guard can step over it without a fault: the fiber then runs in
 * memory of other stacks. The check compares two numbers. It is made only where a carrier leaves a
 * fiber for its idle context (no other fiber to run, or time to look outside), not in the switch
 * itself.
 */
#ifndef FIB_SCHED_ASTRAY_H
#define FIB_SCHED_ASTRAY_H

#include "core/record.h"

/*
 * Check the address of the caller's frame; print a line (at most one a second) if it is outside the
 * fiber's stack. By the fiber itself. Out of line, so that the callers need no frame pointer.
 */
void fib_astray_look(const struct fiber *fiber);

#endif
