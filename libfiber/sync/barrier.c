/* SPDX-License-Identifier: MIT */
/*
 * barrier.c - a number of callers that go on together
 *
 * Who has come is who stands in the queue. The last one finds all others there and lets them go under the
 * same hold of the lock.
 *
 * The danger is a waiter whose deadline passes in that moment: claiming it fails, but the others were counted
 * with it and are on their way. So it has come as long as it has not left the queue under the lock: the last
 * one notes in its node that it has passed, and it returns 0 like the others, although its time is up.
 */
#include <errno.h>

#include <fiber/sync.h>

#include "base/check.h"
#include "base/compiler.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

struct barrier_waiter {
	struct fib_waiter waiter;
	bool passed; /* L */
};

int fiber_barrier_init(struct fiber_barrier *barrier, unsigned n)
{
	fib_must_have(barrier, "the barrier");
	if (!n)
		return -EINVAL;
	fib_queue_lock(&barrier->waiters);
	barrier->count = n;
	fib_queue_unlock(&barrier->waiters);
	return 0;
}

/* If the caller is the last one, let all go. Else join the queue (w not NULL). */
static bool come(struct fiber_barrier *barrier, struct barrier_waiter *w)
{
	struct fib_wake_list list = {NULL, NULL};
	struct fib_waiter *first;
	bool last;

	fib_queue_lock(&barrier->waiters);
	last = (uint64_t)barrier->waiters.length + 1 >= barrier->count;
	while (last && (first = fib_queue_first(&barrier->waiters))) {
		fib_container(first, struct barrier_waiter, waiter)->passed = true;
		fib_queue_claim_next(&barrier->waiters, &list);
	}
	if (!last && w)
		fib_queue_append(&barrier->waiters, &w->waiter);
	fib_queue_unlock(&barrier->waiters);
	fib_wake_all(&list);
	return last;
}

int fiber_barrier_wait(struct fiber_barrier *barrier, int64_t deadline)
{
	struct barrier_waiter w;
	int rc;

	fib_must_have(barrier, "the barrier");
	if (come(barrier, NULL))
		return FIBER_BARRIER_LAST;
	rc = fib_wait_begin(&w.waiter, FIB_WAIT_BARRIER, barrier, 0, deadline);
	if (rc < 0)
		return rc;
	w.passed = false;
	if (come(barrier, &w)) {
		fib_wait_abort(&w.waiter);
		return FIBER_BARRIER_LAST;
	}
	rc = fib_queue_wait(&barrier->waiters, &w.waiter, deadline);
	/* After a failure we have been to the lock: nobody writes it any more. */
	return w.passed ? 0 : rc;
}
