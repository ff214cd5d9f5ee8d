/* SPDX-License-Identifier: MIT */
/*
 * ready.h - the fibers that can run, and which of them runs next
 *
 * Outside a schedule they run in the order in which they became runnable. Within a schedule they are
 * in the order of their numbers, and each decision between two or more of them is a choice.
 */
#ifndef FIB_TEST_SCHED_READY_H
#define FIB_TEST_SCHED_READY_H

#include <stdbool.h>
#include <stdint.h>

struct fiber;

/* Add a fiber that became runnable. */
void fib_ready_add(struct fiber *fiber);

/* Take the fiber that runs next; NULL: none can run. */
struct fiber *fib_ready_next(void);

/* The number of fibers that can run, without the running one. */
unsigned fib_ready_count(void);

/* The one at place i in the order of numbers. */
struct fiber *fib_ready_at(unsigned i);

/* Start or end a schedule: from now on fibers are numbered from 1. */
void fib_ready_begin(void);
void fib_ready_end(void);

#endif
