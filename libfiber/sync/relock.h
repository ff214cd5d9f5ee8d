/* SPDX-License-Identifier: MIT */
/* relock.h - a caller that would wait for a lock that only itself can release. See relock.c. */
#ifndef FIB_SYNC_RELOCK_H
#define FIB_SYNC_RELOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/runtime.h>

struct fib_sched;

/* The policy of s, and of threads that are no fibers from now on. Before s runs fibers. */
void fib_relock_set(struct fib_sched *s, enum fiber_relock_policy policy);

/*
 * The caller is about to wait for lock, which begins with its name, until the deadline (ns) and holds it
 * already. call: the public function. state: what is wrong, for people: "mutex", "is locked by the caller already".
 * 0: wait; -EDEADLK. Does not return under FIBER_RELOCK_ABORT without a deadline.
 */
int fib_relock(const char *call, const char *kind, const void *lock, const char *state,
	       int64_t deadline);

#endif
