/* SPDX-License-Identifier: MIT */
/* join.h - the exit of a fiber */
#ifndef FIB_LIFE_JOIN_H
#define FIB_LIFE_JOIN_H

#include "sched/sched.h"

/* End the calling fiber; its result is in its record. */
_Noreturn void fib_fiber_end(struct fiber *fiber);

/* Wake the joiner of c->departed. In the idle context. */
void fib_reap(struct fib_carrier *c);

/* `call` was called outside a fiber: end the process. */
_Noreturn void fib_die_outside(const char *call);

#endif
