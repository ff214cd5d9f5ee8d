/* SPDX-License-Identifier: MIT */
/*
 * wait_queue.c - waiters in order of arrival
 *
 * A queue is a doubly linked list of nodes on the waiters' stacks, under a spin lock. The head's
 * prev and the tail's next are NULL, so a zeroed queue is empty.
 *
 * Under the lock a linked node is alive: a waiter that stops waiting takes the lock and unlinks
 * itself before its stack frame ends, and a waker copies what it needs before it claims.
 */
#include "wait/wait.h"
#include "wait/wait_queue.h"

#include "order.h"
#include "sched/sched.h"

bool fib_queue_claim_next(struct fiber_wait_queue *q, struct fib_wake_list *list)
{
	struct fib_waiter *w = fib_queue_first(q);

	fib_queue_unlink(q, w);
	/*
	 * A fiber stays until it is put into a run queue. A blocked waiter would see the outcome at
	 * once and be gone, with its node, before fib_wake_all() reaches it.
	 */
	if (!fib_parker_claim(w->parker, w->armed,
			      w->parker->blocks ? FIB_OUTCOME_CLAIMED : FIB_OUTCOME_WOKEN))
		return false;
	fib_wake_list_append(list, w);
	return true;
}

void fib_queue_claim_all(struct fiber_wait_queue *q, struct fib_wake_list *list)
{
	while (fib_queue_occupied(q)) {
		fib_order_wake(fib_queue_first(q));
		fib_queue_claim_next(q, list);
	}
}

void fib_wake_all(struct fib_wake_list *list)
{
	struct fib_waiter *w, *next;
	bool front = true;

	for (w = list->first; w; w = next) {
		struct fib_wake wake = {w->parker->blocks ? NULL : w->parker->fiber,
					&w->parker->word};

		next = fib_waiter_of(w->link.next);
		if (!wake.fiber)
			/* pairs: parker.claim -- from here on its node may be gone. */
			fib_store_release(wake.word,
					  (w->armed & ~FIB_OUTCOME_MASK) | FIB_OUTCOME_WOKEN);
		/* The first runs next, the others in order after all runnable fibers. */
		fib_wake(&wake, front);
		front = false;
	}
}

void fib_queue_remove(struct fiber_wait_queue *q, struct fib_waiter *w)
{
	if (w->linked)
		fib_queue_unlink(q, w);
}

void fib_queue_forget(struct fiber_wait_queue *q, struct fib_waiter *w)
{
	fib_queue_lock(q);
	fib_queue_remove(q, w);
	fib_queue_unlock(q);
}

bool fib_queue_wake_one_in(struct fiber_wait_queue *q, uint32_t section)
{
	struct fib_wake wake = {NULL, NULL};
	bool claimed = false;

	while (fib_queue_occupied(q) && !claimed)
		claimed = fib_queue_claim_first_in(q, section, &wake);
	fib_queue_leave(q, section);
	if (claimed)
		fib_wake(&wake, true);
	return claimed;
}

bool fib_queue_wake_one(struct fiber_wait_queue *q)
{
	return fib_queue_wake_one_in(q, fib_queue_enter(q));
}
