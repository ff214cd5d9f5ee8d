/* SPDX-License-Identifier: MIT */
/* run.h - run one schedule of a test in this process */
#ifndef FIB_TEST_RUN_H
#define FIB_TEST_RUN_H

#include <fiber/test.h>

#include "explore/explorer.h"
#include "explore/finding.h"

struct fib_test {
	fiber_test_fn *fn;
	void *arg;
	const struct fiber_test_options *options; /* complete */
};

/* Remember the memory that options.memory names. Once, before the first schedule. 0 or -ENOMEM. */
int fib_run_prepare(const struct fib_test *test);

/*
 * Run one schedule, whose choices come from *schedule. With a finding it does not return
 * (finding.h), and if the test is a whole program (whole.h) it never does.
 */
typedef void fib_run_fn(const struct fib_test *test, const struct fib_schedule *schedule);
fib_run_fn fib_run_schedule;

/* Bits of options.reach that were reached in any schedule of this process. */
uint64_t fib_run_reached(void);
void fib_run_note_reached(const char *what);

/* The sequence of fiber_test_random(). */
uint64_t fib_run_random(void);

#endif
