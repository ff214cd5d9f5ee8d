/* SPDX-License-Identifier: MIT */
/*
 * profile_ring.c - a ring of samples of variable length, the oldest of which are overwritten
 *
 * Stacks are mostly shorter than 2 KiB, and at most 16 KiB, so slots of one size would be mostly
 * empty. Samples follow each other in the order of their numbers. One that does not fit before the
 * end of the memory begins at its start. Before a sample is written, the oldest ones are dropped
 * until no sample is left where it will be.
 *
 * An index has the place of each sample, so that a reader finds any number at once. Every sample is
 * longer than the struct that it begins with, which bounds the number of entries of the index.
 */
#include "watch/profile_ring.h"

#include <string.h>

#include "base/check.h"
#include "os/os.h"
#include "watch/longrun.h"

#define LEAST 65536u
#define ALIGN 8u
#define HEAD  sizeof(struct fib_profile_sample)

_Static_assert(LEAST >= 2 * (sizeof(struct fib_profile_sample) + FIB_LONGRUN_STACK),
	       "the longest sample fits");
_Static_assert(sizeof(struct fib_profile_sample) % ALIGN == 0, "stacks are aligned");

static size_t size_of(const struct fib_profile_sample *sample)
{
	return HEAD + (sample->stack_size + ALIGN - 1) / ALIGN * ALIGN;
}

int fib_profile_ring_open(struct fib_profile_ring *ring, size_t size)
{
	const size_t room = (size < LEAST ? LEAST : size) / ALIGN * ALIGN;
	const size_t slots = room / HEAD + 1;
	void *at;
	int rc = fib_os_map_buffer(room + slots * sizeof *ring->index, &at);

	if (rc < 0)
		return rc;
	ring->at = at;
	ring->mapped = room + slots * sizeof *ring->index;
	ring->room = room;
	ring->end = 0;
	ring->index = (uint32_t *)(ring->at + room);
	ring->slots = slots;
	ring->first = ring->next;
	return 0;
}

void fib_profile_ring_close(struct fib_profile_ring *ring)
{
	if (ring->at)
		fib_os_unmap(ring->at, ring->mapped);
	*ring = (struct fib_profile_ring){.first = ring->next, .next = ring->next};
}

const struct fib_profile_sample *fib_profile_ring_at(const struct fib_profile_ring *ring,
						     uint64_t number)
{
	if (number < ring->first || number >= ring->next)
		return NULL;
	return (const struct fib_profile_sample *)(ring->at + ring->index[number % ring->slots]);
}

/* Whether the oldest sample is at `from` or behind it, and begins before `to`. */
static bool oldest_is_in(const struct fib_profile_ring *ring, size_t from, size_t to)
{
	const size_t at =
		ring->first == ring->next ? SIZE_MAX : ring->index[ring->first % ring->slots];

	return at >= from && at < to;
}

void fib_profile_ring_add(struct fib_profile_ring *ring, const struct fib_profile_sample *sample,
			  const void *stack)
{
	const size_t size = size_of(sample);
	struct fib_profile_sample *to;

	fib_check(sample->stack_size <= FIB_LONGRUN_STACK);
	if (size > ring->room - ring->end) {
		/* What is left between here and the end of the memory is the oldest. */
		while (oldest_is_in(ring, ring->end, ring->room))
			ring->first++;
		ring->end = 0;
	}
	while (oldest_is_in(ring, ring->end, ring->end + size))
		ring->first++;
	to = (struct fib_profile_sample *)(ring->at + ring->end);
	*to = *sample;
	to->number = ring->next;
	if (sample->stack_size)
		memcpy(to + 1, stack, sample->stack_size);
	ring->index[ring->next++ % ring->slots] = (uint32_t)ring->end;
	ring->end += size;
}
