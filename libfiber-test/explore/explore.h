/* SPDX-License-Identifier: MIT */
/* explore.h - explore a test */
#ifndef FIB_TEST_EXPLORE_H
#define FIB_TEST_EXPLORE_H

#include <fiber/test.h>

#include "explore/outcome.h"

/*
 * Explore as fiber_test_explore() does, which has the same return values; -EINTR: a signal ended it
 * (interrupt.h). *ret is the caller's to free, also after an error.
 */
int fib_explore(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		struct fib_outcome *ret);

/* Why it returned this negative errno. */
const char *fib_explore_why(int error);

/* Why it returned this negative errno. */
const char *fib_explore_why(int error);

#endif
