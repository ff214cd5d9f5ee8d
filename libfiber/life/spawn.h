/* SPDX-License-Identifier: MIT */
/* spawn.h - create a fiber, for the public calls of life/ and runtime/ */
#ifndef FIB_LIFE_SPAWN_H
#define FIB_LIFE_SPAWN_H

#include "sched/sched.h"

/*
 * fiber_create() with the default sizes of s (NULL: the library's). pc: the caller of the public
 * function.
 */
int fib_make(const struct fiber_attr *attr, const struct fib_sched *s, fiber_fn *fn, void *arg,
	     const void *pc, struct fiber **ret);

/*
 * Create a fiber and submit it to s. pc: the caller of the public function; ret NULL: detached.
 * Returns 0 or a negative errno; on an error *ret is unchanged.
 */
int fib_spawn(struct fib_sched *s, const struct fiber_attr *attr, fiber_fn *fn, void *arg,
	      const void *pc, struct fiber **ret);

/*
 * Make a created fiber runnable in s. Returns 0, -EINVAL if it was submitted before, or -ESHUTDOWN.
 */
int fib_submit(struct fib_sched *s, struct fiber *fiber);

/* The first function of every fiber. arg: the fiber. */
void fib_fiber_main(void *arg);

#endif
