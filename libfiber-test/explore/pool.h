/* SPDX-License-Identifier: MIT */
/* pool.h - the workers of an exploration, and the schedules in which they found something */
#ifndef FIB_TEST_POOL_H
#define FIB_TEST_POOL_H

#include "explore/worker.h"

#define FIB_DISTINCT_MOST 20u

/* A schedule with a finding; the worker has ended. */
struct fib_caught {
	struct fib_worker worker;
	uint64_t number;
	uint64_t times; /* schedules with this finding */
};

struct fib_pool {
	const struct fib_test *test;
	struct fib_board *board;
	struct fib_worker *workers;
	unsigned count;
	struct fib_caught caught[FIB_DISTINCT_MOST]; /* distinct findings, by number */
	unsigned distinct;
	/* of workers that have ended */
	uint64_t schedules, drops, reached, hash;
	unsigned longest;
	bool complete;
	int error; /* negative errno: a worker could not be started, or could not explore */
	int signal;
	struct fib_shared *running; /* signal: the schedule that ran; NULL: none */
};

/*
 * Explore until there is a finding, or until a limit or a signal. With keep_going each distinct
 * finding is caught once, in its schedule with the lowest number.
 */
void fib_pool_run(struct fib_pool *pool, const struct fib_test *test, bool keep_going);
void fib_pool_free(struct fib_pool *pool);

#endif
