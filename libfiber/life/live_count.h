/* SPDX-License-Identifier: MIT */
/* live_count.h - how many fibers a scheduler has, and when none is left. */
#ifndef FIB_LIFE_LIVE_COUNT_H
#define FIB_LIFE_LIVE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

struct fib_carrier;
struct fib_sched;

/* One fiber with these flags more in s. From anywhere. 0, -ESHUTDOWN when s is closed. */
int fib_live_enter(struct fib_sched *s, unsigned flags);

/* It will not be submitted after all. By whoever called fib_live_enter, before anything else. */
void fib_live_withdraw(struct fib_sched *s, unsigned flags);

/* A background fiber ends on a carrier of s. Any other: fib_live_raise(&c->ended). */
void fib_live_leave_background(struct fib_sched *s);

/* One more in a carrier's own count, `spawned` or `ended`. By that carrier: only by a fiber that is no
 * background fiber, and of one that is none. */
static inline void fib_live_raise(_Atomic uint64_t *count)
{
	/* label: live_count.count */
	fib_store_release(count, fib_load(count) + 1);
}

/* Whether none is left but background fibers. Any thread. */
bool fib_live_none(struct fib_sched *s);

/* All of them, background fibers too. Any thread; a moment later it may be otherwise. */
uint64_t fib_live_count(struct fib_sched *s);

/* How many have been spawned so far, and how many of them have ended, background fibers too. One for which there was no
 * memory may count as both. Any thread. */
void fib_live_totals(struct fib_sched *s, uint64_t *ret_spawned, uint64_t *ret_ended);

/* Nothing can be submitted any more, if only background fibers are left now: true, and nothing ever will be. False
 * too when that was so before. */
bool fib_close(struct fib_sched *s);
bool fib_closed(struct fib_sched *s);

/* Wait until none is left (all: no background fiber either), or until deadline (ns): 0, -ETIMEDOUT, or in a fiber,
 * which is not of s, what fib_wait() returns. */
int fib_live_await(struct fib_sched *s, bool all, int64_t deadline);

/* A carrier of s comes by its idle context, or goes from a fiber's end to a background fiber: tell whoever waits when
 * none is left. */
void fib_live_notify(struct fib_sched *s);

#endif
