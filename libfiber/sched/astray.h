/* SPDX-License-Identifier: MIT */
/*
 * astray.h - report a fiber that waits with its stack pointer outside its stack
 *
 * A frame that steps over the guard without touching it causes no fault. The fiber goes on in memory of other stacks. Where a
 * carrier leaves a fiber for its idle context, because there is no other to run or to look at the outside, there is
 * time to compare two numbers; the switch itself does not.
 */
#ifndef FIB_SCHED_ASTRAY_H
#define FIB_SCHED_ASTRAY_H

#include "core/record.h"

/* Look where the caller's frames are, and print a line if that is outside the fiber's stack, one a second at most. By the
 * fiber itself. Out of line, so that its callers need no frame pointer. */
void fib_astray_look(const struct fiber *fiber);

#endif
