/* SPDX-License-Identifier: MIT */
/*
 * record_cache.c - a carrier's cache of free records
 *
 * A carrier takes and gives a record for each fiber that its fibers spawn or that exits on it, and
 * the registry has one lock. So a carrier keeps a few records. The one given last is in the CPU's
 * cache and is taken first.
 *
 * Ids are taken one by one, because people read them and they show which fiber is older. But when a
 * carrier spawns hundreds of fibers in a millisecond, the locked instruction that takes an id is a
 * tenth of a spawn, start, exit and join; with several carriers the cache line of the id counter
 * also moves between their CPUs, and nobody can tell which of those fibers is older. So a carrier
 * that needs another id within the same tick of the clock takes twice as many as the last time.
 * When the clock has advanced it gives unused ids back, if they are still the last ones taken, and
 * else drops them. So where one carrier alone spawns, ids have no gaps.
 */
#include "core/record_cache.h"

#include "core/registry.h"
#include "reserve.h"

#define BATCH 32u
_Static_assert(FIB_RECORD_CACHE >= BATCH, "a full cache gives a batch");

fib_noinline int fib_record_fill(struct fib_record_cache *cache)
{
	unsigned count;
	int rc = fib_registry_take(BATCH, &cache->first, &count);

	if (rc == 0)
		fib_store(&cache->count, count);
	return rc;
}

int fib_record_take(struct fib_record_cache *cache, struct fiber **ret)
{
	unsigned count;
	int rc;

	if (!cache)
		return fib_registry_take(1, ret, &count);
	if (!cache->first) {
		rc = fib_record_fill(cache);
		if (rc < 0)
			return rc;
	}
	*ret = fib_record_pop(cache);
	return 0;
}

/* Give the first n records back to the registry. */
static void give_back(struct fib_record_cache *cache, unsigned n)
{
	struct fiber *first = cache->first, *last = first;
	unsigned i;

	for (i = 1; i < n; i++)
		last = last->link;
	cache->first = last->link;
	fib_store(&cache->count, fib_load(&cache->count) - n);
	fib_registry_give(first, last, n);
}

/* Without a cache, or with a full one. */
fib_noinline void fib_record_give_many(struct fib_record_cache *cache, struct fiber *fiber)
{
	if (!cache) {
		fib_registry_give(fiber, fiber, 1);
		return;
	}
	fiber->link = cache->first;
	cache->first = fiber;
	fib_store(&cache->count, fib_load(&cache->count) + 1);
	give_back(cache, BATCH);
}

/* Give unused ids back, if no other id was taken since. */
static void give_back_ids(struct fib_record_cache *cache)
{
	if (cache->ids)
		fib_registry_give_ids(cache->next_id, cache->ids);
	cache->ids = 0;
}

void fib_record_flush(struct fib_record_cache *cache)
{
	unsigned count = fib_load(&cache->count);

	if (count)
		give_back(cache, count);
	give_back_ids(cache);
}

fib_noinline uint64_t fib_record_more_ids(struct fib_record_cache *cache)
{
	int64_t now = fib_coarse_now();
	bool busy = now == cache->ids_since;

	give_back_ids(cache);
	if (!busy || !cache->ids_most)
		cache->ids_most = 1;
	else if (cache->ids_most < FIB_ID_RESERVE)
		cache->ids_most *= 2;
	cache->ids_since = now;
	cache->next_id = fib_registry_take_ids(cache->ids_most);
	cache->ids = cache->ids_most - 1;
	return cache->next_id++;
}
