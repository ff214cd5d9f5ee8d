/* SPDX-License-Identifier: MIT */
/*
 * whole.h - the test is a whole program
 *
 * It is called by a thread, outside any fiber, and starts runtimes of its own. A schedule begins
 * with its main() and ends with exit(), which must be given 0.
 */
#ifndef FIB_TEST_WHOLE_H
#define FIB_TEST_WHOLE_H

#include <stdbool.h>

#include <fiber/test.h>

/* The test that this process explores is a whole program. */
void fib_whole_set(void);
bool fib_whole(void);

/* In a worker: its schedules write their output to this file, and read no terminal. */
void fib_whole_settle(int output);

/* fn is called when a schedule of this process has ended well, before its exit() goes on. */
void fib_whole_at_end(void (*fn)(void));

/* Call the program, after its schedule has begun. */
_Noreturn void fib_whole_run(fiber_test_fn *fn, void *arg);

#endif
