/* SPDX-License-Identifier: MIT */
/*
 * runqueue.h - a carrier's runnable fibers, first in, first out
 */
#ifndef FIB_SCHED_RUNQUEUE_H
#define FIB_SCHED_RUNQUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"

#define FIB_RING 1024u

/* C its carrier only · A any thread, atomic · L under lock */
struct fib_runqueue {
	_Atomic uint32_t head fib_aligned(FIB_CACHE_LINE); /* A: runqueue.take */
	_Atomic uint32_t tail fib_aligned(FIB_CACHE_LINE); /* C, A reads: runqueue.publish */
	_Atomic uint32_t lock;
	_Atomic uint32_t overflowing; /* L writes, A reads: fibers in the overflow list */
	bool alone;		      /* I: there are no thieves */
	struct fiber *overflow_first; /* L */
	struct fiber *overflow_last;  /* L */
	uint32_t mask;		      /* C where alone, else I: number of slots, less one */
	struct fiber *_Atomic *slots; /* C where alone, else I; A: their contents */
	struct fiber *_Atomic fixed[FIB_RING];
};

/* Initialize a zeroed queue. alone: there will be no thieves. */
void fib_runqueue_init(struct fib_runqueue *q, bool alone);
void fib_runqueue_release(struct fib_runqueue *q);

/* Append. Its carrier only. */
static inline void fib_runqueue_put(struct fib_runqueue *q, struct fiber *fiber);

/* Take the oldest; NULL when empty. Its carrier only. */
static inline struct fiber *fib_runqueue_take(struct fib_runqueue *q);

/* The same without thieves; NULL also when the ring must be refilled. */
static inline struct fiber *fib_runqueue_take_alone(struct fib_runqueue *q);

/*
 * Put fiber and take the oldest in one step. Returns NULL, and has done nothing, if there are
 * thieves, the ring is empty or the list is in use. Its carrier only.
 */
static inline struct fiber *fib_runqueue_turn(struct fib_runqueue *q, struct fiber *fiber);

/*
 * The fiber n places behind the oldest, or NULL; it may have been taken since. For prefetching. Its
 * carrier only.
 */
static inline struct fiber *fib_runqueue_peek(struct fib_runqueue *q, uint32_t n);

/* The ring as it is now, to peek several times. Its carrier only. */
struct fib_runqueue_view {
	struct fiber *_Atomic *slots;
	uint32_t mask, head, count;
};
static inline struct fib_runqueue_view fib_runqueue_view(struct fib_runqueue *q);
static inline struct fiber *fib_runqueue_view_peek(const struct fib_runqueue_view *v, uint32_t n);

/*
 * Move about half of victim's fibers into q, which is empty, and return one more to run; NULL when
 * there are none. By the carrier of q.
 */
struct fiber *fib_runqueue_steal(struct fib_runqueue *q, struct fib_runqueue *victim);

/* Returns whether the queue is empty. Any thread; the answer may be out of date. */
bool fib_runqueue_empty(struct fib_runqueue *q);

/* -- the path of a yield, inline -- */

void fib_runqueue_overflow(struct fib_runqueue *q, struct fiber *fiber);
struct fiber *fib_runqueue_refill(struct fib_runqueue *q);

/* Put into the ring, which must have room. */
static inline void fib_runqueue_ring_put(struct fib_runqueue *q, struct fiber *fiber)
{
	uint32_t tail = fib_load(&q->tail);

	fib_store(&q->slots[tail & q->mask], fiber);
	/* label: runqueue.publish -- a thief that sees the new tail sees the fiber in its slot. */
	fib_store_release(&q->tail, tail + 1);
}

static inline void fib_runqueue_put(struct fib_runqueue *q, struct fiber *fiber)
{
	/* pairs: runqueue.take -- the slots before head have been read by their takers. */
	uint32_t head = fib_load_acquire(&q->head);

	if (fib_load(&q->overflowing) || fib_load(&q->tail) - head > q->mask)
		fib_runqueue_overflow(q, fiber);
	else
		fib_runqueue_ring_put(q, fiber);
}

static inline struct fiber *fib_runqueue_take(struct fib_runqueue *q)
{
	uint32_t head = fib_load_acquire(&q->head);

	while (head != fib_load(&q->tail)) {
		struct fiber *fiber = fib_load(&q->slots[head & q->mask]);

		if (q->alone) {
			fib_store(&q->head, head + 1);
			return fiber;
		}
		/* label: runqueue.take -- the slot has been read before it can be written again. */
		if (fib_cas(&q->head, &head, head + 1))
			return fiber;
	}
	return fib_load(&q->overflowing) ? fib_runqueue_refill(q) : NULL;
}

static inline struct fiber *fib_runqueue_take_alone(struct fib_runqueue *q)
{
	const uint32_t head = fib_load(&q->head);

	if (head == fib_load(&q->tail))
		return NULL;
	fib_store(&q->head, head + 1);
	return fib_load(&q->slots[head & q->mask]);
}

static inline struct fiber *fib_runqueue_turn(struct fib_runqueue *q, struct fiber *fiber)
{
	uint32_t head = fib_load(&q->head), tail = fib_load(&q->tail);
	struct fiber *first;

	if (!q->alone || head == tail || fib_load(&q->overflowing))
		return NULL;
	first = fib_load(&q->slots[head & q->mask]);
	fib_store(&q->slots[tail & q->mask], fiber);
	fib_store(&q->head, head + 1);
	fib_store(&q->tail, tail + 1);
	return first;
}

static inline struct fib_runqueue_view fib_runqueue_view(struct fib_runqueue *q)
{
	const uint32_t head = fib_load(&q->head);

	return (struct fib_runqueue_view){q->slots, q->mask, head, fib_load(&q->tail) - head};
}

static inline struct fiber *fib_runqueue_view_peek(const struct fib_runqueue_view *v, uint32_t n)
{
	return v->count > n ? fib_load(&v->slots[(v->head + n) & v->mask]) : NULL;
}

static inline struct fiber *fib_runqueue_peek(struct fib_runqueue *q, uint32_t n)
{
	const struct fib_runqueue_view v = fib_runqueue_view(q);

	return fib_runqueue_view_peek(&v, n);
}

#endif
