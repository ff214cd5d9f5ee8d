/* SPDX-License-Identifier: MIT */
/*
 * runqueue.c - a bounded ring that thieves can take from, and an overflow list
 *
 * The ring is the single-producer, multi-consumer queue of Go's and tokio's schedulers (Vyukov,
 * "Scalable Go Scheduler Design Doc", 2012). The carrier writes the tail; takers move the head by
 * compare-and-swap. A thief copies the slots first and owns them only if its swap succeeds. A slot
 * is not written again before the head has passed it.
 *
 * Fibers that do not fit go into a list under a lock. While the list is not empty every new fiber
 * goes there, and the ring is refilled from the list's front. So the order is first in, first out,
 * however many fibers there are: N fibers that yield run once a round each.
 *
 * Walking a list of fibers that have been out of the caches is slow: each must be loaded from
 * memory to find the next. Without thieves the ring can grow instead, and then the next fibers are
 * known long before (fib_runqueue_peek). The list is used then only if there is no memory for a
 * larger ring.
 */
#include "sched/runqueue.h"

#include <stdlib.h>

#include "os/spin.h"

/* Lock the list. A carrier without thieves needs no lock. */
static void lock(struct fib_runqueue *q)
{
	if (!q->alone)
		fib_spin_lock(&q->lock);
}

static void unlock(struct fib_runqueue *q)
{
	if (!q->alone)
		fib_spin_unlock(&q->lock);
}

void fib_runqueue_init(struct fib_runqueue *q, bool alone)
{
	q->alone = alone;
	q->slots = q->fixed;
	q->mask = FIB_RING - 1;
}

void fib_runqueue_release(struct fib_runqueue *q)
{
	if (q->slots != q->fixed)
		free(q->slots);
}

/* Double the ring. Only without thieves. */
static bool grow(struct fib_runqueue *q)
{
	uint32_t mask = q->mask * 2 + 1, i;
	struct fiber *_Atomic *slots = malloc(((size_t)mask + 1) * sizeof *slots);

	if (!slots)
		return false;
	for (i = fib_load(&q->head); i != fib_load(&q->tail); i++)
		fib_store(&slots[i & mask], fib_load(&q->slots[i & q->mask]));
	fib_runqueue_release(q);
	q->slots = slots;
	q->mask = mask;
	return true;
}

void fib_runqueue_overflow(struct fib_runqueue *q, struct fiber *fiber)
{
	if (q->alone && !fib_load(&q->overflowing) && grow(q)) {
		fib_runqueue_ring_put(q, fiber);
		return;
	}
	fiber->link = NULL;
	lock(q);
	if (q->overflow_last)
		q->overflow_last->link = fiber;
	else
		q->overflow_first = fiber;
	q->overflow_last = fiber;
	fib_store(&q->overflowing, fib_load(&q->overflowing) + 1);
	unlock(q);
}

/* Unlink up to n from the list's front. */
static struct fiber *overflow_take(struct fib_runqueue *q, uint32_t n)
{
	struct fiber *first, *last;
	uint32_t count = 1;

	lock(q);
	first = last = q->overflow_first;
	if (first) {
		while (count < n && last->link) {
			last = last->link;
			count++;
		}
		q->overflow_first = last->link;
		if (!q->overflow_first)
			q->overflow_last = NULL;
		last->link = NULL;
		fib_store(&q->overflowing, fib_load(&q->overflowing) - count);
	}
	unlock(q);
	return first;
}

/*
 * Move up to half a ring of fibers from the list into the empty ring, and take the first. All
 * fibers go through the ring, because its head counts them (start_queue.h).
 */
struct fiber *fib_runqueue_refill(struct fib_runqueue *q)
{
	struct fiber *fiber = overflow_take(q, FIB_RING / 2), *next;

	if (!fiber)
		return NULL;
	for (; fiber; fiber = next) {
		next = fiber->link;
		fib_runqueue_ring_put(q, fiber);
	}
	return fib_runqueue_take(q);
}

struct fiber *fib_runqueue_steal(struct fib_runqueue *q, struct fib_runqueue *victim)
{
	/* q's ring is empty, so its slots can be written before any thread sees them. */
	uint32_t tail = fib_load(&q->tail);
	uint32_t head = fib_load_acquire(&victim->head);
	uint32_t n, i;
	struct fiber *first, *fiber, *next;

	for (;;) {
		/* pairs: runqueue.publish */
		n = fib_load_acquire(&victim->tail) - head;
		n -= n / 2;
		if (n > FIB_RING / 2) {
			/* head and tail were read at different moments */
			head = fib_load_acquire(&victim->head);
			continue;
		}
		if (!n)
			break;
		first = fib_load(&victim->slots[head & victim->mask]);
		for (i = 1; i < n; i++)
			fib_store(&q->slots[(tail + i - 1) & q->mask],
				  fib_load(&victim->slots[(head + i) & victim->mask]));
		if (fib_cas(&victim->head, &head, head + n)) {
			/* pairs: runqueue.publish */
			fib_store_release(&q->tail, tail + n - 1);
			return first;
		}
	}
	if (!fib_load(&victim->overflowing))
		return NULL;
	first = overflow_take(victim, FIB_RING / 2);
	for (fiber = first ? first->link : NULL; fiber; fiber = next) {
		next = fiber->link;
		fib_runqueue_ring_put(q, fiber);
	}
	return first;
}

bool fib_runqueue_empty(struct fib_runqueue *q)
{
	return fib_load_acquire(&q->head) == fib_load_acquire(&q->tail) &&
	       !fib_load(&q->overflowing);
}
