/* SPDX-License-Identifier: MIT */
/* worker.h - a forked process that runs schedules */
#ifndef FIB_TEST_WORKER_H
#define FIB_TEST_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "explore/finding.h"
#include "explore/run.h"
#include "explore/series.h"
#include "token/token.h"

struct fib_worker {
	struct fib_shared *shared; /* NULL: no worker */
	int errors;		   /* a file with what it wrote to stderr */
	int details;		   /* a file with the members of a JSON object; -1: not traced */
	pid_t pid;
	int pidfd;
	uint64_t from;	/* the first number */
	uint64_t seen;	/* progress, ... */
	int64_t since;	/* ... when it changed, ns of the real clock ... */
	int64_t looked; /* ... and when it was looked at */
};

#define FIB_WORKER_NONE                          \
	(struct fib_worker)                      \
	{                                        \
		NULL, -1, -1, -1, -1, 0, 0, 0, 0 \
	}
#define FIB_LOOK_MS 50

/*
 * Start a worker that runs the schedules from, from + stride, ... after: the memory of a worker
 * whose last schedule had a finding or was dropped, which the new one continues; NULL: none.
 */
int fib_worker_explore(const struct fib_test *test, struct fib_board *board, uint64_t from,
		       unsigned stride, const struct fib_shared *after, struct fib_worker *ret);

/* Start a worker that runs the one schedule with these deviations. */
int fib_worker_try(const struct fib_test *test, const struct fib_deviation *deviations, unsigned n,
		   bool traced, struct fib_worker *ret);

/*
 * Whether it has ended. It is killed after hang_limit (ns; < 0: none) without progress, if it was
 * stopped, and if `over` is true. After the end shared->found says whether there is a finding, also
 * if a signal ended the process.
 */
bool fib_worker_ended(struct fib_worker *worker, int64_t hang_limit, bool over);

/* Wait for its end. */
void fib_worker_wait(struct fib_worker *worker, int64_t hang_limit);

/* The end of what it wrote to stderr; the caller frees it. NULL: no memory. */
char *fib_worker_errors(const struct fib_worker *worker);
void fib_worker_release(struct fib_worker *worker);

#endif
