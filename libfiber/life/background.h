/* SPDX-License-Identifier: MIT */
/* background.h - fibers that do not keep their runtime alive. See background.c for the rule. */
#ifndef FIB_LIFE_BACKGROUND_H
#define FIB_LIFE_BACKGROUND_H

#include "base/list.h"
#include "core/record.h"
#include "os/spin.h"
#include "sched/sched.h"

/* A background fiber is submitted to s, and counted in, but nobody runs it yet / has ended. */
void fib_background_enter(struct fib_sched *s, struct fiber *fiber);
static inline void fib_background_leave(struct fib_sched *s, struct fiber *fiber)
{
	fib_spin_lock(&s->background.lock);
	fib_list_remove(&fiber->background);
	fib_spin_unlock(&s->background.lock);
}

/* s was closed: cancel its background fibers, and see that they end. Once or more, by whoever finishes it. */
void fib_background_finish(struct fib_sched *s);

/* A fiber that is cancelled is about to be told so. Ends it when it belongs to a runtime that finishes, and has
 * been told before. By the fiber itself, where it holds nothing of the library. */
void fib_background_note_cancel(struct fiber *fiber);

/* What a lock returns that the caller did not get: error, a negative errno. Does not return to a fiber whose runtime
 * finishes, which might take it for locked. */
int fib_background_refuse(int error);

#endif
