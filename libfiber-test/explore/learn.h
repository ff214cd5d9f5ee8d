/* SPDX-License-Identifier: MIT */
/* learn.h - the first schedule of a test, from which strategies learn */
#ifndef FIB_TEST_LEARN_H
#define FIB_TEST_LEARN_H

#include "explore/run.h"

/*
 * Prepare the choices of that schedule: random ones, which depend on the seed alone. The seed of an
 * attempt, from 1, of a test with this seed.
 */
void fib_learn_begin(uint64_t seed);
uint64_t fib_learn_seed(uint64_t seed, unsigned attempt);
unsigned fib_learn_choose(void *context, const struct fib_choice *choice);

/*
 * Run it twice: learn from it (strategy/strategy.h), and see that the test is deterministic; if it
 * is not, the finding is `diverged`. *schedule says where choices are written, run how it is run. If
 * the schedule is dropped and `run` returns, there are more attempts, which *attempt counts, from 1.
 */
void fib_learn(const struct fib_test *test, const struct fib_schedule *schedule, fib_run_fn *run,
	       _Atomic uint32_t *attempt);

#endif
