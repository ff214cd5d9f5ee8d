/* SPDX-License-Identifier: MIT */
/*
 * event_ring.h - the last events of one writer, for a reader that never blocks it
 *
 * The writer overwrites the oldest event. The reader copies the events that it has not seen, then
 * reads the writer's position again: events that may have been overwritten meanwhile count as lost.
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
	_Atomic uint64_t head fib_aligned(FIB_CACHE_LINE); /* W, A: number of events written */
	uint64_t mask;					   /* I: number of slots, less one */
	struct fib_event_slot *slots;			   /* I */
	uint64_t read fib_aligned(FIB_CACHE_LINE);	   /* R: number of the next event to read */
	uint64_t lost; /* R: events overwritten before they were read, or not written */
	uint64_t told; /* R: those of them that the registry counts */
};

/* Append. By the writer. */
static inline void fib_event_put(struct fib_event_ring *ring, uint64_t time, uint64_t fiber,
				 uint64_t object, uint64_t what)
{
	const uint64_t head = fib_load(&ring->head);
	struct fib_event_slot *slot = &ring->slots[head & ring->mask];

	/*
	 * label: event_ring.slot -- a reader that sees a changed slot sees the head that marks it
	 * as overwritten.
	 */
	fib_fence_release();
	fib_store(&slot->word[0], time);
	fib_store(&slot->word[1], fiber);
	fib_store(&slot->word[2], object);
	fib_store(&slot->word[3], what);
	/* label: event_ring.head -- a reader that sees the new head sees the event. */
	fib_store_release(&ring->head, head + 1);
}

/* Encode the last word of an event. */
static inline uint64_t fib_event_what(unsigned type, unsigned kind, unsigned state, unsigned flags,
				      uint32_t arg)
{
	return type | (uint64_t)kind << 8 | (uint64_t)state << 16 | (uint64_t)flags << 24 |
	       (uint64_t)arg << 32;
}

/* Make the reader start with the next event written. */
void fib_event_ring_begin(struct fib_event_ring *ring);

/*
 * Copy up to n unread events in order; add overwritten events to ring->lost. Returns how many were
 * copied. By the reader.
 */
unsigned fib_event_ring_read(struct fib_event_ring *ring, struct fib_event *to, unsigned n);

/* Returns whether there are unread events. By the reader. */
static inline bool fib_event_ring_more(const struct fib_event_ring *ring)
{
	return fib_load(&ring->head) != ring->read;
}

#endif
