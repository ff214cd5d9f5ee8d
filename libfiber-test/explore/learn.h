/* SPDX-License-Identifier: MIT */
/* learn.h - the first schedule of a test, from which strategies learn */
#ifndef FIB_TEST_LEARN_H
#define FIB_TEST_LEARN_H

#include "explore/run.h"

/* Prepare the choices of that schedule: random ones, which depend on the seed alone. */
void fib_learn_begin(const struct fib_test *test);
unsigned fib_learn_choose(void *context, const struct fib_choice *choice);

/*
 * Run it twice: learn from it (strategy/strategy.h), and see that the test is deterministic; if it
 * is not, the finding is `diverged`. *schedule says where choices are written, run how it is run.
 */
void fib_learn(const struct fib_test *test, const struct fib_schedule *schedule, fib_run_fn *run);

#endif
