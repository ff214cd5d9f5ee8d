/* SPDX-License-Identifier: MIT */
/*
 * prefetch.c - prefetch the memory that a batch of poll events will touch
 *
 * An event leads to a descriptor, the descriptor to the wait node on the waiter's stack, the node
 * to the fiber. With many connections each of the three is a cache miss. So for up to 16 events all
 * descriptors are prefetched first, then all nodes, then all fibers. The misses of one step
 * overlap.
 *
 * A node is read under its queue's lock, because its stack may be gone later. Where no lock is
 * needed (core/sole.h), one section covers the whole batch. Nothing is changed here.
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

/* Prefetch the fiber of the first waiter to read. Under the queue's lock, or in a section. */
static inline void prefetch_fiber(struct fiber_wait_queue *q)
{
	const struct fib_waiter *w = fib_queue_first(q);

	/* A fiber's parker is at the start of its second cache line (record.h). */
	if (w) {
		__builtin_prefetch(w->parker, 1);
		__builtin_prefetch((const char *)w->parker - FIB_CACHE_LINE, 1);
	}
}

static void prefetch_fibers(struct fib_descriptor *const d[], int n)
{
	const uint32_t section = fib_sole_enter();
	int i;

	for (i = 0; i < n; i++) {
		struct fiber_wait_queue *q = &d[i]->reading.waiters;

		if (!section)
			fib_spin_lock(&q->lock);
		prefetch_fiber(q);
		if (!section)
			fib_spin_unlock(&q->lock);
	}
	if (section)
		fib_sole_leave(section);
}

void fib_descriptor_prefetch(const struct fib_poll_event *events, int n)
{
	struct fib_descriptor *d[TOGETHER];
	int i, met = 0;

	/* A single event would gain nothing: its misses cannot overlap. */
	if (n < 2)
		return;
	if (n > TOGETHER)
		n = TOGETHER;
	for (i = 0; i < n; i++) {
		d[met] = meant(&events[i]);
		if (d[met])
			__builtin_prefetch(d[met++], 1);
	}
	for (i = 0; i < met; i++)
		__builtin_prefetch(fib_load(&d[i]->reading.waiters.head), 1);
	prefetch_fibers(d, met);
}
