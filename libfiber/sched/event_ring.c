/* SPDX-License-Identifier: MIT */
/* event_ring.c - read a ring of events while it is written */
#include "sched/event_ring.h"

#include <string.h>

/* See fib_event_what(). */
static void unpack(const uint64_t word[4], struct fib_event *to)
{
	*to = (struct fib_event){
		.time = word[0],
		.fiber = word[1],
		.object = word[2],
		.type = (uint8_t)word[3],
		.kind = (uint8_t)(word[3] >> 8),
		.state = (uint8_t)(word[3] >> 16),
		.flags = (uint8_t)(word[3] >> 24),
		.arg = (uint32_t)(word[3] >> 32),
	};
}

void fib_event_ring_begin(struct fib_event_ring *ring)
{
	ring->read = fib_load(&ring->head);
	ring->lost = ring->told = 0;
}

/*
 * head: where the writer is. Move the reader to the oldest event that is certainly intact, and
 * count the skipped ones as lost. The slot before that event is being written.
 */
static void catch_up(struct fib_event_ring *ring, uint64_t head)
{
	const uint64_t oldest = head > ring->mask ? head - ring->mask : 0;

	if (ring->read < oldest) {
		ring->lost += oldest - ring->read;
		ring->read = oldest;
	}
}

unsigned fib_event_ring_read(struct fib_event_ring *ring, struct fib_event *to, unsigned n)
{
	const uint64_t head = fib_load_acquire(&ring->head); /* pairs: event_ring.head */
	uint64_t first, word[4];
	unsigned i, k, gone;

	catch_up(ring, head);
	first = ring->read;
	if (head - first < n)
		n = (unsigned)(head - first);
	for (i = 0; i < n; i++) {
		struct fib_event_slot *slot = &ring->slots[(first + i) & ring->mask];

		for (k = 0; k < 4; k++)
			word[k] = fib_load(&slot->word[k]);
		unpack(word, &to[i]);
	}
	/*
	 * pairs: event_ring.slot -- if a copied slot held part of a later event, head as read now
	 * is past it.
	 */
	fib_fence_acquire();
	catch_up(ring, fib_load(&ring->head));
	gone = ring->read - first < n ? (unsigned)(ring->read - first) : n;
	n -= gone;
	memmove(to, to + gone, n * sizeof *to);
	ring->read += n;
	return n;
}
