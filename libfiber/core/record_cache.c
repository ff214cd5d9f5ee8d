/* SPDX-License-Identifier: MIT */
/*
 * record_cache.c - records and ids, some at a time
 *
 * A carrier that spawns and reaps takes and gives a record for each fiber, and the registry has one lock
 * and one counter. So a carrier keeps a few: what was given last, and is warm, is taken first. Ids are taken by
 * the block, too; they are unique and count up on each carrier, and those that a carrier does not use
 * are left out.
 */
#include "core/record_cache.h"

#include "core/registry.h"

#define BATCH 32u
#define MOST  (2 * BATCH)
#define IDS   64u

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
	*ret = cache->first;
	cache->first = (*ret)->link;
	cache->count--;
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

void fib_record_name(struct fib_record_cache *cache, struct fiber *fiber)
{
	uint64_t id;

	if (!cache) {
		id = fib_registry_ids(1);
	} else {
		if (cache->next_id == cache->end_id) {
			cache->next_id = fib_registry_ids(IDS);
			cache->end_id = cache->next_id + IDS;
		}
		id = cache->next_id++;
	}
	/* Readers take a record with an id for whole. */
	fib_publish(&fiber->id, id);
}

void fib_record_flush(struct fib_record_cache *cache)
{
	if (cache->count)
		give_back(cache, cache->count);
	cache->next_id = cache->end_id = 0;
}
