/* SPDX-License-Identifier: MIT */
/* progress.h - one line on stderr that is overwritten in place while a test is explored */
#ifndef FIB_TEST_PROGRESS_H
#define FIB_TEST_PROGRESS_H

#include <fiber/test.h>

struct fib_progress {
	const struct fiber_test_options *options;
	bool wanted, drawn;
	int64_t start, next; /* ns of the real clock */
};

void fib_progress_begin(struct fib_progress *progress, const struct fiber_test_options *options);

/*
 * Draw it if it is due. schedules: so far, dropped ones included; explored: which part of all
 * schedules these are, from 0 to 1, or 0 where that is not known.
 */
void fib_progress_show(struct fib_progress *progress, uint64_t schedules, double explored,
		       unsigned findings);

/* Remove it. */
void fib_progress_end(struct fib_progress *progress);

#endif
