/* SPDX-License-Identifier: MIT */
/* spawn.h - making a fiber, for the public calls of this layer and of the runtime. */
#ifndef FIB_LIFE_SPAWN_H
#define FIB_LIFE_SPAWN_H

#include "sched/sched.h"

/* fiber_create with the default sizes of s, NULL: those of the library; pc: the caller of the public function. */
int fib_make(const struct fiber_attr *attr, const struct fib_sched *s, fiber_fn *fn, void *arg,
	     const void *pc, struct fiber **ret);

/* Make a fiber and submit it to s. pc: the caller of the public function; ret NULL: detached. 0, or a negative
 * errno, and then *ret is as it was. */
int fib_spawn(struct fib_sched *s, const struct fiber_attr *attr, fiber_fn *fn, void *arg,
	      const void *pc, struct fiber **ret);

/* Make a created fiber runnable in s. 0, -EINVAL when it was submitted before, -ESHUTDOWN. */
int fib_submit(struct fib_sched *s, struct fiber *fiber);

/* What a fiber runs first. arg: the fiber. */
void fib_fiber_main(void *arg);

#endif
