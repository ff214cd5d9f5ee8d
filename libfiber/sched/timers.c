/* SPDX-License-Identifier: MIT */
/*
 * timers.c - a 4-ary heap that touches no fiber while it is sifted
 *
 * The heap's array holds the deadlines, 16 bytes an entry, and the four children of an entry share
 * one cache line. A table with four bytes per slot says where in the heap each entry is, and a
 * fiber knows only its slot. With a hundred thousand sleepers, a heap that wrote each move into the
 * fiber would miss the cache eight times per wake-up.
 *
 * A fiber that is woken otherwise removes its entry at once. Else a server that gives every read a
 * deadline would accumulate dead entries. Due entries are removed in batches, so that the memory of
 * all their fibers is prefetched before the first is used.
 *
 * Only the owning carrier inserts. A fiber that has migrated removes its entry from another
 * carrier, and other carriers wake overdue fibers when the owner computes or blocks; so the heap
 * has a lock. fiber->timers says which heap, and is written under that heap's lock. Only the fiber
 * itself changes it from NULL to a heap, so the fiber may read it without the lock.
 */
#include "sched/timers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "os/spin.h"

#define WAYS	4u
#define OVERDUE INT64_C(2000000) /* ns; two ticks */
/* Entries of 16 bytes before the heap, so that children 1 to 4 start a cache line. */
#define PAD 3u

void fib_timers_init(struct fib_timers *t)
{
	memset(t, 0, sizeof *t);
	fib_store(&t->nearest, INT64_MAX);
}

void fib_timers_release(struct fib_timers *t)
{
	free(t->memory);
	free(t->slots);
	t->memory = NULL;
	t->slots = NULL;
}

static void place(struct fib_timers *t, uint32_t i, struct fib_timer_entry e)
{
	t->heap[i] = e;
	t->at[e.slot] = i;
}

static void sift_up(struct fib_timers *t, uint32_t i, struct fib_timer_entry e)
{
	while (i) {
		uint32_t above = (i - 1) / WAYS;

		if (t->heap[above].deadline <= e.deadline)
			break;
		place(t, i, t->heap[above]);
		i = above;
	}
	place(t, i, e);
}

static bool before(const struct fib_timer_entry *a, const struct fib_timer_entry *b)
{
	return a->deadline < b->deadline;
}

/*
 * The nearest of four. Without branches: they are unpredictable, and would miss at every second
 * level.
 */
static inline const struct fib_timer_entry *nearest_of(const struct fib_timer_entry *four)
{
	const struct fib_timer_entry *low = four + before(four + 1, four);
	const struct fib_timer_entry *high = four + 2 + before(four + 3, four + 2);

	return low + (high - low) * before(high, low);
}

static const struct fib_timer_entry *nearest_child(const struct fib_timers *t, uint32_t first)
{
	const struct fib_timer_entry *child = t->heap + first, *least = child;

	if (first + WAYS <= t->count)
		return nearest_of(child);
	while (++child < t->heap + t->count)
		if (before(child, least))
			least = child;
	return least;
}

static void sift_down(struct fib_timers *t, uint32_t i, struct fib_timer_entry e)
{
	uint32_t first;

	while ((first = i * WAYS + 1) < t->count) {
		const struct fib_timer_entry *least = nearest_child(t, first);

		if (!before(least, &e))
			break;
		place(t, i, *least);
		i = (uint32_t)(least - t->heap);
	}
	place(t, i, e);
}

static void publish_nearest(struct fib_timers *t)
{
	fib_store(&t->nearest, t->count ? t->heap[0].deadline : INT64_MAX);
}

/* Under the lock. */
static void take_out(struct fib_timers *t, uint32_t i)
{
	uint32_t slot = t->heap[i].slot;
	struct fib_timer_entry last = t->heap[--t->count];

	t->at[slot] = t->free_slot;
	t->free_slot = slot;
	if (i < t->count) {
		if (i && last.deadline < t->heap[(i - 1) / WAYS].deadline)
			sift_up(t, i, last);
		else
			sift_down(t, i, last);
	}
	publish_nearest(t);
}

struct room {
	struct fib_timer_entry *memory;
	struct fib_timer_slot *slots;
	uint32_t *at; /* in the memory of slots */
};

static int make_room(struct room *room, uint32_t capacity)
{
	size_t size = (PAD + capacity) * sizeof *room->memory;

	room->memory = aligned_alloc(FIB_CACHE_LINE,
				     (size + FIB_CACHE_LINE - 1) & ~(size_t)(FIB_CACHE_LINE - 1));
	room->slots = malloc(capacity * (sizeof *room->slots + sizeof *room->at));
	if (room->memory && room->slots)
		return 0;
	free(room->memory);
	free(room->slots);
	return -ENOMEM;
}

/*
 * Allocates outside the lock: only this carrier inserts, so no other thread uses up the room
 * meanwhile.
 */
static int grow(struct fib_timers *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : 64, i;
	struct room room, old = {t->memory, t->slots, t->at};

	if (make_room(&room, capacity) < 0)
		return -ENOMEM;
	room.at = (uint32_t *)(room.slots + capacity);
	fib_spin_lock(&t->lock);
	if (t->capacity) {
		memcpy(room.memory + PAD, t->heap, t->count * sizeof *t->heap);
		memcpy(room.slots, t->slots, t->capacity * sizeof *t->slots);
		memcpy(room.at, t->at, t->capacity * sizeof *t->at);
	}
	for (i = t->capacity; i < capacity; i++)
		room.at[i] = i + 1; /* free slots are linked; all old slots are in use */
	if (!t->capacity)
		t->free_slot = 0;
	t->memory = room.memory;
	t->heap = room.memory + PAD;
	t->slots = room.slots;
	t->at = room.at;
	t->capacity = capacity;
	fib_spin_unlock(&t->lock);
	free(old.memory);
	free(old.slots);
	return 0;
}

int fib_timers_add(struct fib_timers *t, struct fiber *fiber, uint32_t armed, int64_t deadline)
{
	uint32_t slot;

	fib_spin_lock(&t->lock);
	while (t->count == t->capacity) {
		int rc;

		fib_spin_unlock(&t->lock);
		rc = grow(t);
		if (rc < 0)
			return rc;
		fib_spin_lock(&t->lock);
	}
	slot = t->free_slot;
	t->free_slot = t->at[slot];
	t->slots[slot] = (struct fib_timer_slot){fiber, armed};
	fiber->timer_slot = slot;
	fib_publish(&fiber->timers, t);
	t->count++;
	sift_up(t, t->count - 1, (struct fib_timer_entry){deadline, slot});
	publish_nearest(t);
	fib_spin_unlock(&t->lock);
	return 0;
}

void fib_timers_drop(struct fiber *fiber)
{
	struct fib_timers *t = fib_observe(&fiber->timers);

	if (!t)
		return;
	fib_spin_lock(&t->lock);
	if (fiber->timers) {
		fib_publish(&fiber->timers, NULL);
		take_out(t, t->at[fiber->timer_slot]);
	}
	fib_spin_unlock(&t->lock);
}

/* Remove at most n due entries and prefetch their fibers. Under the lock. */
static unsigned take_due(struct fib_timers *t, int64_t now, struct fib_timer_slot *due, unsigned n)
{
	unsigned i;

	for (i = 0; i < n && t->count && t->heap[0].deadline <= now; i++) {
		due[i] = t->slots[t->heap[0].slot];
		__builtin_prefetch(due[i].fiber, 1);
		__builtin_prefetch(&due[i].fiber->parker, 1);
		take_out(t, 0);
	}
	return i;
}

unsigned fib_timers_expire(struct fib_timers *t, int64_t now, struct fiber **ret, unsigned n)
{
	struct fib_timer_slot due[FIB_TIMERS_BATCH];
	unsigned count, i, found = 0;

	if (fib_load(&t->nearest) > now)
		return 0;
	fib_spin_lock(&t->lock);
	do {
		count = take_due(t, now, due, n < FIB_TIMERS_BATCH ? n : FIB_TIMERS_BATCH);
		for (i = 0; i < count; i++) {
			struct fiber *fiber = due[i].fiber;

			fib_publish(&fiber->timers, NULL);
			if (fib_parker_claim(&fiber->parker, due[i].armed, FIB_OUTCOME_TIMED_OUT))
				ret[found++] = fiber;
		}
	} while (count && !found);
	fib_spin_unlock(&t->lock);
	return found;
}

bool fib_timers_overdue(struct fib_timers *t, int64_t now)
{
	int64_t nearest = fib_load(&t->nearest);

	return nearest < now && now - nearest > OVERDUE;
}
