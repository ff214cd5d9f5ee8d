/* SPDX-License-Identifier: MIT */
/* live_count.h - how many fibers a scheduler has, and when none is left */
#ifndef FIB_LIFE_LIVE_COUNT_H
#define FIB_LIFE_LIVE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

struct fib_carrier;
struct fib_sched;

/*
 * Count one more fiber with these flags in s. Any thread. Returns 0, or -ESHUTDOWN if s is closed.
 */
int fib_live_enter(struct fib_sched *s, unsigned flags);

/* Undo fib_live_enter(): the fiber will not be submitted. By its caller, before anything else. */
void fib_live_withdraw(struct fib_sched *s, unsigned flags);

/* A background fiber exits on a carrier of s. For other fibers: fib_live_raise(&c->ended). */
void fib_live_leave_background(struct fib_sched *s);

/*
 * Increment a carrier's own count, `spawned` or `ended`. By that carrier, in a fiber that is not a
 * background fiber, and for one that is not.
 */
static inline void fib_live_raise(_Atomic uint64_t *count)
{
	/* label: live_count.count */
	fib_store_release(count, fib_load(count) + 1);
}

/* Returns whether only background fibers are left. Any thread. */
bool fib_live_none(struct fib_sched *s);

/* The number of fibers, background fibers included. Any thread; the answer may be out of date. */
uint64_t fib_live_count(struct fib_sched *s);

/*
 * How many fibers have been spawned, and how many of them have ended, background fibers included. A
 * spawn that failed for lack of memory may count as both. Any thread.
 */
void fib_live_totals(struct fib_sched *s, uint64_t *ret_spawned, uint64_t *ret_ended);

/*
 * Close s for submissions if only background fibers are left. Returns true if this call has closed
 * it: there will be no other fibers. False also if s was closed before.
 */
bool fib_close(struct fib_sched *s);
bool fib_closed(struct fib_sched *s);

/*
 * Wait until no fiber is left (all: no background fiber either), or until deadline (ns). Returns 0,
 * -ETIMEDOUT, or in a fiber, which must not be of s, an error of fib_wait().
 */
int fib_live_await(struct fib_sched *s, bool all, int64_t deadline);

/*
 * A carrier of s is in its idle context, or goes from an exited fiber to a background fiber: if no
 * fiber is left, wake the callers that wait for that.
 */
void fib_live_notify(struct fib_sched *s);

#endif
