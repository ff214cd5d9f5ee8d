/* SPDX-License-Identifier: MIT */
/*
 * event_ring.h - the last events of one writer, for a reader that does not hold it up
 *
 * The writer writes over the oldest and asks nobody. The reader copies what it has not seen and looks at the writer's
 * place again afterwards: what may have been written over meanwhile counts as lost.
 */
#ifndef FIB_SCHED_EVENT_RING_H
#define FIB_SCHED_EVENT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "layout/event.h"

struct fib_event_slot {
	_Atomic uint64_t word[4]; /* A: event_ring.slot */
};

/* W its writer · R its reader */
struct fib_event_ring {
	_Atomic uint64_t head fib_aligned(FIB_CACHE_LINE); /* W, A: events written so far */
	uint64_t mask;					   /* I: slots there are, less one */
	struct fib_event_slot *slots;			   /* I */
	uint64_t read fib_aligned(FIB_CACHE_LINE);	   /* R: the next number to read */
	uint64_t lost;					   /* R: events that it never saw */
};

/* Append. By the writer. */
static inline void fib_event_put(struct fib_event_ring *ring, uint64_t time, uint64_t fiber,
				 uint64_t object, uint64_t what)
{
	const uint64_t head = fib_load(&ring->head);
	struct fib_event_slot *slot = &ring->slots[head & ring->mask];

	/* label: event_ring.slot -- who sees the slot change sees that its old event may be gone. */
	fib_fence_release();
	fib_store(&slot->word[0], time);
	fib_store(&slot->word[1], fiber);
	fib_store(&slot->word[2], object);
	fib_store(&slot->word[3], what);
	/* label: event_ring.head -- who sees the number sees the event. */
	fib_store_release(&ring->head, head + 1);
}

/* What stands in the last word. */
static inline uint64_t fib_event_what(unsigned type, unsigned kind, unsigned state, unsigned flags,
				      uint32_t arg)
{
	return type | (uint64_t)kind << 8 | (uint64_t)state << 16 | (uint64_t)flags << 24 |
	       (uint64_t)arg << 32;
}

/* The reader begins with what is written from now on. */
void fib_event_ring_begin(struct fib_event_ring *ring);

/* Copy up to n events that were not read before, in their order, and count those that are gone in ring->lost. How many.
 * By the reader. */
unsigned fib_event_ring_read(struct fib_event_ring *ring, struct fib_event *to, unsigned n);

/* Whether there is something to read. By the reader. */
static inline bool fib_event_ring_more(const struct fib_event_ring *ring)
{
	return fib_load(&ring->head) != ring->read;
}

#endif
