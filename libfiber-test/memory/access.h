/* SPDX-License-Identifier: MIT */
/* access.h - an access of the running program to memory */
#ifndef FIB_TEST_ACCESS_H
#define FIB_TEST_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The program is about to access [at, at + size); the call is before pc. Where several fibers use
 * that memory another fiber may run before this returns. kind: FIB_ACCESS_*. No effect outside the
 * fibers of a schedule.
 */
void fib_access(const void *at, size_t size, unsigned kind, const void *pc);

/*
 * An atomic operation, which is a choice wherever it is, in two steps: make the choice, and look
 * for a race once it is known whether the operation writes. `what` names it. The actor of the
 * fiber is returned; NULL: outside, without effect.
 */
struct fib_actor *fib_access_choose(const void *at, size_t size, const char *what, const void *pc);
struct fib_actor *fib_access_atomic(struct fib_actor *me, const void *at, size_t size, bool writes,
				    const void *pc);

/* Whether races are looked for in this schedule. */
void fib_access_looks_for_races(bool on);

#endif
