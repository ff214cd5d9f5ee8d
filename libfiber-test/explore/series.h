/* SPDX-License-Identifier: MIT */
/* series.h - the schedules that one worker runs */
#ifndef FIB_TEST_SERIES_H
#define FIB_TEST_SERIES_H

#include "explore/finding.h"
#include "explore/run.h"

/* What all workers of a test share. */
struct fib_board {
	_Atomic uint64_t lowest; /* the lowest number of a schedule with a finding */
	_Atomic bool drops;	 /* fiber_test_assume() has dropped a schedule */
	bool keep_going;	 /* others do not stop at the lowest number */
};

/* The schedule whose choices go to *shared; strategies make them. */
struct fib_schedule fib_series_schedule(const struct fib_test *test, struct fib_shared *shared);

/*
 * In a worker: run the schedules from, from + stride, ... and exit. after: the memory of a worker
 * whose last schedule had a finding or was dropped, which this one continues; NULL: none.
 */
_Noreturn void fib_series_run(const struct fib_test *test, struct fib_board *board,
			      struct fib_shared *shared, uint64_t from, unsigned stride,
			      const struct fib_shared *after);

#endif
