/* SPDX-License-Identifier: MIT */
/* sharing.c - run one schedule for the side that sees memory, see memory/private.h */
#include "explore/sharing.h"

#include "explore/worker.h"
#include "memory.h"

void fib_sharing_learn(const struct fib_test *test)
{
	struct fib_worker w;

	if (!fib_memory_learn_begin())
		return;
	if (fib_worker_try(test, NULL, 0, false, &w) == 0) {
		fib_worker_wait(&w, test->options->hang_limit);
		fib_worker_release(&w);
	}
	fib_memory_learn_end();
}
