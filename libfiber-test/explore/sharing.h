/* SPDX-License-Identifier: MIT */
/* sharing.h - learn which variables fibers share, before a test is explored or replayed */
#ifndef FIB_TEST_SHARING_H
#define FIB_TEST_SHARING_H

#include "explore/run.h"

/* Run the schedule without deviations in a process of its own, whatever it finds. */
void fib_sharing_learn(const struct fib_test *test);

#endif
