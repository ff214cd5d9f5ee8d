/* SPDX-License-Identifier: MIT */
/*
 * prefetch.c - prefetch the memory that a batch of poll events will touch
 *
 * An event leads to a descriptor, the descriptor to the wait node on the waiter's stack, the node
 * to the fiber. With many connections each of the three is a cache miss. So for up to 16 events all
 * descriptors are prefetched first, then all nodes, then all fibers. The misses of one step
 * overlap.
 *
 * A node is read under its queue's lock, because its stack may be gone later. Nothing is changed
 * here.
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

/* The parker of the first waiter to read, or NULL. The parker may be gone when this returns. */
static const struct fib_parker *first_parker(struct fib_descriptor *d)
{
	struct fiber_wait_queue *q = &d->reading.waiters;
	const uint32_t section = fib_queue_enter(q);
	const struct fib_waiter *w = fib_queue_first(q);
	const struct fib_parker *parker = w ? w->parker : NULL;

	fib_queue_leave(q, section);
	return parker;
}

void fib_descriptor_prefetch(const struct fib_poll_event *events, int n)
{
	struct fib_descriptor *d[TOGETHER];
	int i;

	/* A single event would gain nothing: its misses cannot overlap. */
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

		/* A fiber's parker is at the start of its second cache line (record.h). */
		if (parker) {
			__builtin_prefetch(parker, 1);
			__builtin_prefetch(parker - FIB_CACHE_LINE, 1);
		}
	}
}
