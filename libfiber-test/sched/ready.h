/* SPDX-License-Identifier: MIT */
/*
 * ready.h - the fibers that can run
 *
 * Outside a schedule they are in the order in which they became runnable, within one in the order of
 * their numbers.
 */
#ifndef FIB_TEST_SCHED_READY_H
#define FIB_TEST_SCHED_READY_H

#include <stdbool.h>
#include <stdint.h>

struct fiber;

/* Add a fiber that became runnable. */
void fib_ready_add(struct fiber *fiber);

/* Take the one at place i out. */
struct fiber *fib_ready_take(unsigned i);

/* Keep a fiber back that must not run before no other fiber can. */
void fib_ready_keep_back(struct fiber *fiber);

/* Add the fibers that were kept back. False: there are none. */
bool fib_ready_release(void);

/*
 * Keep a fiber with FIBER_IDLE apart; add the one that has waited longest. It is not added twice in a
 * row while a deadline is armed: idle fibers may yield for ever, and time must go on. False: none was.
 */
void fib_ready_add_idle(struct fiber *fiber);
bool fib_ready_release_idle(bool deadline);

/* The number of fibers that can run, without the running one. */
unsigned fib_ready_count(void);

/* The one at place i. */
struct fiber *fib_ready_at(unsigned i);

/* Start or end a schedule. */
void fib_ready_begin(void);
void fib_ready_end(void);

#endif
