/* SPDX-License-Identifier: MIT */
/* spawn.h - making a fiber, for the public calls of this layer and of the runtime. */
#ifndef FIB_SCHED_SPAWN_H
#define FIB_SCHED_SPAWN_H

#include "sched/sched.h"
#include "sched/wait.h"

/* fiber_create with the default stack size given; pc: the caller of the public function. */
int fib_make(const struct fiber_attr *attr, size_t stack_size, fiber_fn *fn, void *arg,
	     const void *pc, struct fiber **ret);

/* Make a fiber and submit it to s. pc: the caller of the public function; ret NULL: detached. 0, or a negative
 * errno, and then *ret is as it was. */
int fib_spawn(struct fib_sched *s, const struct fiber_attr *attr, fiber_fn *fn, void *arg,
	      const void *pc, struct fiber **ret);

/* Take apart a fiber that was made and never submitted. */
void fib_unmake(struct fiber *fiber);

/* Make a created fiber runnable in s. 0, -EINVAL when it was submitted before, -ESHUTDOWN. */
int fib_submit(struct fib_sched *s, struct fiber *fiber);

/* Nothing can be submitted any more, if only background fibers are left now: true, and nothing ever will be. False
 * too when that was so before. */
bool fib_close(struct fib_sched *s);

/* One fiber with these flags less in s. */
void fib_uncount(struct fib_sched *s, unsigned flags);

/* Give back the record of a fiber that nobody needs. */
void fib_free_record(struct fiber *fiber);

/* sched->live: how many fibers keep it alive, how many more do not, and whether it is closed. */
#define FIB_LIVE_MASK	    UINT64_C(0xffffffff)
#define FIB_LIVE_BACKGROUND (UINT64_C(1) << 32)
#define FIB_LIVE_CLOSED	    (UINT64_C(1) << 63)

/* What a fiber with these flags adds to it. */
static inline uint64_t fib_live_one(unsigned flags)
{
	return flags & FIBER_BACKGROUND ? FIB_LIVE_BACKGROUND : 1;
}

#endif
