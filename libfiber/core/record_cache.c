/* SPDX-License-Identifier: MIT */
/*
 * record_cache.c - records, some at a time
 *
 * A carrier that spawns and reaps takes and gives a record for each fiber, and the registry has one lock. So
 * a carrier keeps a few: what was given last, and is warm, is taken first. Ids are taken one by one: a
 * person reads them, and they tell which fiber is older.
 */
#include "core/record_cache.h"

#include "core/registry.h"

#define BATCH 32u
#define MOST  (2 * BATCH)

int fib_record_take(struct fib_record_cache *cache, struct fiber **ret)
{
	unsigned count;
	int rc;

	if (!cache)
		return fib_registry_take(1, ret, &count);
	if (!cache->first) {
		rc = fib_registry_take(BATCH, &cache->first, &cache->count);
		if (rc < 0)
			return rc;
	}
	*ret = fib_record_pop(cache);
	return 0;
}

/* Give the n records at the front back. */
static void give_back(struct fib_record_cache *cache, unsigned n)
{
	struct fiber *first = cache->first, *last = first;
	unsigned i;

	for (i = 1; i < n; i++)
		last = last->link;
	cache->first = last->link;
	cache->count -= n;
	last->link = NULL;
	fib_registry_give(first, last);
}

void fib_record_give(struct fib_record_cache *cache, struct fiber *fiber)
{
	if (!cache) {
		fib_registry_give(fiber, fiber);
		return;
	}
	fiber->link = cache->first;
	cache->first = fiber;
	if (++cache->count > MOST)
		give_back(cache, BATCH);
}

void fib_record_flush(struct fib_record_cache *cache)
{
	if (cache->count)
		give_back(cache, cache->count);
}
