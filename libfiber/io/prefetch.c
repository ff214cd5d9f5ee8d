/* SPDX-License-Identifier: MIT */
/*
 * prefetch.c - the memory of those who are about to be woken, asked for together
 *
 * An event leads to a descriptor, that to the node of whoever waits, on his stack, and that to his fiber: three places, one
 * known only from the other, and with many connections none in the caches. One event after the other would stand
 * still three times. So for some events at a time first all descriptors are asked for, then all nodes, then all
 * fibers, and each step finds what the one before it has brought.
 *
 * A node is read under its queue's lock, since its stack may be gone afterwards. Nothing here changes anything.
 */
#include "io/descriptor.h"
#include "io/table.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define TOGETHER 16

static struct fib_descriptor *meant(const struct fib_poll_event *event)
{
	return event->events ? fib_descriptor_find((int)(uint32_t)event->token) : NULL;
}

/* Of the first who waits to read, NULL when nobody does; perhaps no longer there. */
static const struct fib_parker *first_parker(struct fib_descriptor *d)
{
	struct fiber_wait_queue *q = &d->reading.waiters;
	const struct fib_parker *parker = NULL;
	struct fib_waiter *w;

	fib_queue_lock(q);
	w = fib_queue_first(q);
	if (w)
		parker = w->parker;
	fib_queue_unlock(q);
	return parker;
}

void fib_descriptor_prefetch(const struct fib_poll_event *events, int n)
{
	struct fib_descriptor *d[TOGETHER];
	int i;

	/* One alone would be waited for here as well as there. */
	if (n < 2)
		return;
	if (n > TOGETHER)
		n = TOGETHER;
	for (i = 0; i < n; i++) {
		d[i] = meant(&events[i]);
		if (d[i])
			__builtin_prefetch(d[i], 1);
	}
	for (i = 0; i < n; i++) {
		struct fib_list *head = d[i] ? fib_load(&d[i]->reading.waiters.head) : NULL;

		if (head)
			__builtin_prefetch(head, 1);
		else
			d[i] = NULL;
	}
	for (i = 0; i < n; i++) {
		const char *parker = d[i] ? (const char *)first_parker(d[i]) : NULL;

		/* A fiber's lies at the start of its second cache line (record.h). */
		if (parker) {
			__builtin_prefetch(parker, 1);
			__builtin_prefetch(parker - FIB_CACHE_LINE, 1);
		}
	}
}
