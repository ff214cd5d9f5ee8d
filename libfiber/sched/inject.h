/* SPDX-License-Identifier: MIT */
/* inject.h - a queue anybody may put fibers into: from plain threads, other runtimes, for one carrier. */
#ifndef FIB_SCHED_INJECT_H
#define FIB_SCHED_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

struct fib_inject {
	_Atomic uint32_t lock;
	_Atomic uint32_t count; /* L writes, A reads */
	struct fiber *first;	/* L */
	struct fiber *last;	/* L */
};

void fib_inject_put(struct fib_inject *q, struct fiber *fiber);

/* The oldest, NULL when empty. */
struct fiber *fib_inject_take(struct fib_inject *q);

bool fib_inject_empty(struct fib_inject *q);

#endif
