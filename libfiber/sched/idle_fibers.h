/* SPDX-License-Identifier: MIT */
/*
 * idle_fibers.h - fibers that run only when nothing else is runnable; see idle_fibers.c for the
 * rule
 */
#ifndef FIB_SCHED_IDLE_FIBERS_H
#define FIB_SCHED_IDLE_FIBERS_H

#include <stdbool.h>

struct fiber;
struct fib_carrier;
struct fib_sched;

/*
 * Queue a runnable fiber with FIBER_IDLE for a carrier that has nothing else to run. Any thread.
 * The caller notifies a carrier.
 */
void fib_idle_fibers_put(struct fib_sched *s, struct fiber *fiber);

/*
 * Take the idle fiber that c is to run after it found nothing else; NULL when none waits. When it
 * leaves, c looks at everything else first. Carrier c only.
 */
struct fiber *fib_idle_fibers_take(struct fib_carrier *c);

/*
 * Returns whether an idle fiber waits that carrier c could run; c NULL: any carrier. Any thread;
 * the answer may be out of date.
 */
bool fib_idle_fibers_visible(struct fib_sched *s, struct fib_carrier *c);

#endif
