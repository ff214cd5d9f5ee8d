/* SPDX-License-Identifier: MIT */
/* sleep_sets.h - exhaustive without orders of steps that cannot influence each other */
#ifndef FIB_TEST_SLEEP_SETS_H
#define FIB_TEST_SLEEP_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/explorer.h"

/* Whether the next exploration uses them. By the process that starts its workers. 0 or -ENOMEM. */
int fib_sleep_sets_use(bool use);
bool fib_sleep_sets_used(void);

/* As the functions of struct fib_strategy, and as fib_exhaustive_done(). */
void fib_sleep_sets_begin(uint64_t number);
unsigned fib_sleep_sets_choose(const struct fib_choice *choice);
bool fib_sleep_sets_end(const struct fib_step *steps, unsigned n);
double fib_sleep_sets_done(void);

#endif
