/* SPDX-License-Identifier: MIT */
/* background.h - fibers that do not keep their runtime alive; see background.c for the rule */
#ifndef FIB_LIFE_BACKGROUND_H
#define FIB_LIFE_BACKGROUND_H

#include "base/list.h"
#include "core/record.h"
#include "os/spin.h"
#include "sched/sched.h"

/* A background fiber was submitted to s, and counted, but does not run yet / has exited. */
void fib_background_enter(struct fib_sched *s, struct fiber *fiber);
static inline void fib_background_leave(struct fib_sched *s, struct fiber *fiber)
{
	fib_spin_lock(&s->background.lock);
	fib_list_remove(&fiber->background);
	fib_spin_unlock(&s->background.lock);
}

/*
 * s was closed: cancel its background fibers, so that they exit. Once or more, by the thread that
 * finishes s.
 */
void fib_background_finish(struct fib_sched *s);

/*
 * A cancelled fiber is about to get -ECANCELED. Ends the fiber if its runtime finishes and it got
 * that before. By the fiber itself, while it holds nothing of the library.
 */
void fib_background_note_cancel(struct fiber *fiber);

/*
 * A lock failed with error, a negative errno: returns error. Does not return to a fiber whose
 * runtime finishes, because it might treat the lock as taken.
 */
int fib_background_refuse(int error);

#endif
