/* SPDX-License-Identifier: MIT */
/*
 * inbox.h - a queue that any thread may put fibers into: plain threads, other runtimes, for one
 * carrier
 */
#ifndef FIB_SCHED_INBOX_H
#define FIB_SCHED_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

struct fib_inbox {
	_Atomic uint32_t lock;
	_Atomic uint32_t count; /* L writes, A reads */
	struct fiber *first;	/* L */
	struct fiber *last;	/* L */
};

void fib_inbox_put(struct fib_inbox *q, struct fiber *fiber);

/* The oldest, NULL when empty. */
struct fiber *fib_inbox_take(struct fib_inbox *q);

bool fib_inbox_empty(struct fib_inbox *q);

#endif
