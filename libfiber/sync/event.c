/* SPDX-License-Identifier: MIT */
/*
 * event.c - an event that is set or not set
 *
 * fiber_event_set() claims all waiters under the lock that guards the flag. A reset right after it
 * does not hold back any of them.
 */
#include <fiber/sync.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "sync/touch.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* Returns whether the event is set. If not, join the queue (if w is not NULL). */
static bool is_set(struct fiber_event *event, struct fib_waiter *w)
{
	bool set;

	fib_queue_lock(&event->waiters);
	set = event->set != 0;
	if (!set && w)
		fib_queue_append(&event->waiters, w);
	if (set)
		fib_order_acquire(event);
	fib_queue_unlock(&event->waiters);
	return set;
}

int fiber_event_wait(struct fiber_event *event, int64_t deadline)
{
	struct fib_waiter w;
	int rc;

	fib_choice(event);
	fib_must_have(event, "the event");
	if (is_set(event, NULL))
		return 0;
	rc = fib_wait_begin(&w, FIB_WAIT_EVENT, event, 0, deadline);
	if (rc < 0)
		return rc;
	if (is_set(event, &w)) {
		fib_wait_abort(&w);
		return 0;
	}
	return fib_queue_wait(&event->waiters, &w, deadline);
}

int fiber_event_set(struct fiber_event *event)
{
	struct fib_wake_list list = {NULL, NULL};

	fib_choice(event);
	fib_must_have(event, "the event");
	fib_queue_lock(&event->waiters);
	event->set = 1;
	fib_touch(&event->waiters);
	fib_order_release(event);
	fib_queue_claim_all(&event->waiters, &list);
	fib_queue_unlock(&event->waiters);
	fib_wake_all(&list);
	return 0;
}

int fiber_event_reset(struct fiber_event *event)
{
	fib_choice(event);
	fib_must_have(event, "the event");
	fib_queue_lock(&event->waiters);
	event->set = 0;
	fib_queue_unlock(&event->waiters);
	return 0;
}
