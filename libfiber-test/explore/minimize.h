/* SPDX-License-Identifier: MIT */
/* minimize.h - find a schedule with fewer and earlier deviations and the same finding */
#ifndef FIB_TEST_MINIMIZE_H
#define FIB_TEST_MINIMIZE_H

#include "explore/worker.h"

/*
 * Remove deviations, then move them to earlier choices and lower alternatives, as long as verdict,
 * message and place of *found stay. Each try is a process of its own; at most 2,000 tries and 5 s.
 * *n is changed. Returns whether the finding came back at all.
 */
bool fib_minimize(const struct fib_test *test, const struct fib_shared *found,
		  struct fib_deviation *deviations, unsigned *n);

/* No limit of time, in this process: for tests whose result must not depend on the machine. */
void fib_minimize_without_time(void);

#endif
