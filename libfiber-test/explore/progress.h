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

/* Draw it if it is due. schedules: so far; longest: choices of the longest one. */
void fib_progress_show(struct fib_progress *progress, uint64_t schedules, unsigned findings);

/* Remove it. */
void fib_progress_end(struct fib_progress *progress);

#endif
