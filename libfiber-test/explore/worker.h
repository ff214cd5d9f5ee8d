/* SPDX-License-Identifier: MIT */
/* worker.h - a forked process that runs schedules */
#ifndef FIB_TEST_WORKER_H
#define FIB_TEST_WORKER_H

#include <stdint.h>
#include <sys/types.h>

#include "explore/finding.h"
#include "explore/run.h"
#include "token/token.h"

/* What all workers of a test share. */
struct fib_board {
	_Atomic uint64_t lowest; /* the lowest number of a schedule with a finding */
};

struct fib_worker {
	struct fib_shared *shared;
	int errors; /* a file with what it wrote to stderr */
	pid_t pid;
	int pidfd;
};

/* Start worker `index` of `count`: it runs the schedules index + 1, index + 1 + count, ... */
int fib_worker_explore(const struct fib_test *test, struct fib_board *board, unsigned index,
		       unsigned count, struct fib_worker *ret);

/* Start a worker that runs the one schedule with these deviations. */
int fib_worker_try(const struct fib_test *test, const struct fib_deviation *deviations, unsigned n,
		   bool traced, struct fib_worker *ret);

/*
 * Wait for its end; kill it after hang_limit (ns; < 0: none) without progress, or at `end` (ns of
 * the real clock; INT64_MAX: none). Then shared->found says whether there is a finding, also if a
 * signal ended the process.
 */
void fib_worker_wait(struct fib_worker *worker, int64_t hang_limit, int64_t end);

/* The end of what it wrote to stderr; the caller frees it. NULL: no memory. */
char *fib_worker_errors(const struct fib_worker *worker);
void fib_worker_release(struct fib_worker *worker);

#endif
