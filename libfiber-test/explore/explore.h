/* SPDX-License-Identifier: MIT */
/* explore.h - explore a test, and the report of what was found */
#ifndef FIB_TEST_EXPLORE_H
#define FIB_TEST_EXPLORE_H

#include <fiber/test.h>

/*
 * fiber_test_explore(); *ret_report: the whole report, which the caller frees, NULL without a
 * finding. deviations_before: in the schedule that was found, before minimisation.
 */
int fib_explore(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		struct fiber_test_result *ret, char **ret_report, unsigned *ret_before);

/* Why it returned this negative errno. */
const char *fib_explore_why(int error);

#endif
