/* SPDX-License-Identifier: MIT */
/*
 * pinned.h - fibers that wait as if they blocked a carrier of their own, and the thread that runs
 * all fibers; see futex.c and aside.c
 */
#ifndef FIB_TEST_OS_PINNED_H
#define FIB_TEST_OS_PINNED_H

#include <stdbool.h>
#include <stdint.h>

struct fiber;
struct pollfd;

/* On the stack of the fiber, or of the thread. */
struct fib_pinned_sleeper {
	_Atomic uint32_t *word; /* NULL: it waits for descriptors */
	uint32_t expected;
	int64_t deadline;
	struct fiber *fiber; /* NULL: the thread that runs fibers meanwhile (sched/loop.h) */
	struct fib_pinned_sleeper *next;
	struct pollfd *fds;
	unsigned long count;
};

/* Whether its word has changed, a descriptor is ready, or its deadline has passed. */
bool fib_pinned_over(const struct fib_pinned_sleeper *p);

/* Set a fiber aside until its wait is over; the thread, until it is removed. */
void fib_pinned_add(struct fib_pinned_sleeper *p);
void fib_pinned_remove(struct fib_pinned_sleeper *p);

/* Make the fibers runnable whose wait is over. Returns the nearest deadline of the others, ns. */
int64_t fib_pinned_gather(void);

/* The first one; the others follow by ->next. */
const struct fib_pinned_sleeper *fib_pinned_first(void);

#endif
