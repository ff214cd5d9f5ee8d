/* SPDX-License-Identifier: MIT */
/* relock.h - detect a caller that waits for a lock it holds itself. See relock.c. */
#ifndef FIB_SYNC_RELOCK_H
#define FIB_SYNC_RELOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/runtime.h>

struct fib_sched;

/* Set the policy of s, and of plain threads from now on. Call before s runs fibers. */
void fib_relock_set(struct fib_sched *s, enum fiber_relock_policy policy);

/*
 * Apply the policy to a caller that holds lock and is about to wait for it until the deadline (ns).
 * lock: an object whose first field is its name. call: the public function, for the message.
 * state: what is wrong, for the message: kind "mutex", state "is locked by the caller already".
 * Returns 0 (wait) or -EDEADLK. Aborts under FIBER_RELOCK_ABORT if there is no deadline.
 */
int fib_relock(const char *call, const char *kind, const void *lock, const char *state,
	       int64_t deadline);

#endif
