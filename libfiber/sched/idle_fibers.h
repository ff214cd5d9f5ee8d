/* SPDX-License-Identifier: MIT */
/* idle_fibers.h - fibers that run only when nothing else is runnable. See idle_fibers.c for the rule. */
#ifndef FIB_SCHED_IDLE_FIBERS_H
#define FIB_SCHED_IDLE_FIBERS_H

#include <stdbool.h>

struct fiber;
struct fib_carrier;
struct fib_sched;

/* Let a runnable fiber with FIBER_IDLE wait for a carrier that has nothing else. Any thread. Whoever calls this
 * sees that such a carrier looks. */
void fib_idle_fibers_put(struct fib_sched *s, struct fiber *fiber);

/* The one that c is to run, having found nothing else; NULL when none waits. Its next leave is its last on c
 * without a look at everything else. Carrier c only. */
struct fiber *fib_idle_fibers_take(struct fib_carrier *c);

/* Whether one waits that carrier c could run; c NULL: any carrier could. Any thread; a moment later it may be
 * otherwise. */
bool fib_idle_fibers_visible(struct fib_sched *s, struct fib_carrier *c);

#endif
