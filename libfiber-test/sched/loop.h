/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the thread that runs all fibers of a program under test
 *
 * There is no carrier thread. A thread of the program that waits for fibers (fiber_join(),
 * fiber_runtime_finish(), an explored test) runs them meanwhile, one at a time.
 */
#ifndef FIB_TEST_SCHED_LOOP_H
#define FIB_TEST_SCHED_LOOP_H

#include <stdbool.h>

struct fib_pinned_sleeper;

/*
 * Let one fiber run until it waits, yields, exits, or the strategy lets another one go first.
 * False: no fiber can run, and no deadline is armed. By a thread that is not in a fiber.
 */
bool fib_loop_turn(void);

/* Run fibers until this wait of the calling thread is over. Ends the schedule if it never will be. */
void fib_loop_wait(struct fib_pinned_sleeper *wait);

/*
 * A thread waits for fibers, and none can ever run: end the schedule with a finding, outside a
 * schedule the program.
 */
_Noreturn void fib_loop_stuck(void);

#endif
