/* SPDX-License-Identifier: MIT */
/*
 * barrier.c - wait until a given number of callers have arrived
 *
 * The callers that have arrived are the ones in the queue; waiters.own is their number. The last one
 * to arrive claims all others under one hold of the lock.
 *
 * Race: a waiter's deadline may pass at that moment. Claiming it then fails, but the others were
 * counted with it and have been released. The rule: a waiter has arrived as long as it is in the
 * queue. The last arrival sets `passed` in its node, and the waiter returns 0 although its wait
 * timed out.
 */
#include <errno.h>

#include <fiber/sync.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
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

/* If the caller is the last to arrive, release all. Else join the queue (if w is not NULL). */
static bool come(struct fiber_barrier *barrier, struct barrier_waiter *w)
{
	struct fib_wake_list list = {NULL, NULL};
	struct fib_waiter *first;
	bool last;

	fib_queue_lock(&barrier->waiters);
	last = (uint64_t)barrier->waiters.own + 1 >= barrier->count;
	if (last || w)
		fib_order_release(barrier);
	if (last)
		fib_order_acquire(barrier);
	if (last)
		barrier->waiters.own = 0;
	while (last && (first = fib_queue_first(&barrier->waiters))) {
		fib_container(first, struct barrier_waiter, waiter)->passed = true;
		fib_order_wake(first);
		fib_queue_claim_next(&barrier->waiters, &list);
	}
	if (!last && w) {
		fib_queue_append(&barrier->waiters, &w->waiter);
		barrier->waiters.own++;
	}
	fib_queue_unlock(&barrier->waiters);
	fib_wake_all(&list);
	return last;
}

/*
 * After a wait that failed, or that blocked: the thread that woke it may still hold the lock
 * (fib_queue_wait()).
 */
static void leave(struct fiber_barrier *barrier, struct fib_waiter *w)
{
	fib_queue_lock(&barrier->waiters);
	if (w->linked) {
		fib_queue_unlink(&barrier->waiters, w);
		barrier->waiters.own--;
	}
	fib_queue_unlock(&barrier->waiters);
}

int fiber_barrier_wait(struct fiber_barrier *barrier, int64_t deadline)
{
	struct barrier_waiter w;
	int rc;

	fib_choice(barrier);
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
	rc = fib_wait(&w.waiter, deadline);
	if (rc < 0 || w.waiter.parker->blocks)
		leave(barrier, &w.waiter);
	/*
	 * After a failed wait the node was removed under the lock, so `passed` cannot change any
	 * more.
	 */
	return w.passed ? 0 : rc;
}
