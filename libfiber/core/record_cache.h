/* SPDX-License-Identifier: MIT */
/* record_cache.h - a carrier's cache of free records, so that spawning takes no lock */
#ifndef FIB_CORE_RECORD_CACHE_H
#define FIB_CORE_RECORD_CACHE_H

#include <stdbool.h>

#include "base/atomic.h"
#include "core/record.h"
#include "core/registry.h"

#define FIB_RECORD_CACHE 64u

/* Used by its carrier only, except for the count, which other threads may read. Zeroed memory is an
 * empty cache. */
struct fib_record_cache {
	struct fiber *first; /* linked through ->link, the one given last first */
	_Atomic unsigned count;
	unsigned ids;	   /* ids that are left */
	unsigned ids_most; /* number of ids taken last time */
	uint64_t next_id;
	int64_t ids_since; /* when they were taken: ns of the coarse clock */
};

/* fib_registry_take() for one record. cache may be NULL. Any thread. */
int fib_record_take(struct fib_record_cache *cache, struct fiber **ret);

/* Put records from the registry into an empty cache. Returns 0 or an error of fib_registry_take().
 * Its carrier only. */
int fib_record_fill(struct fib_record_cache *cache);

/* The number of records in the cache: they are taken, but are no fibers. Any thread. */
static inline unsigned fib_record_kept(const struct fib_record_cache *cache)
{
	return fib_load(&cache->count);
}

/* fib_registry_give() for one record. cache may be NULL. Any thread. */
void fib_record_give_many(struct fib_record_cache *cache, struct fiber *fiber);
static inline void fib_record_give(struct fib_record_cache *cache, struct fiber *fiber)
{
	const unsigned count = cache ? fib_load(&cache->count) : FIB_RECORD_CACHE;

	if (!cache || fib_unlikely(count >= FIB_RECORD_CACHE)) {
		fib_record_give_many(cache, fiber);
		return;
	}
	fiber->link = cache->first;
	cache->first = fiber;
	fib_store(&cache->count, count + 1);
}

/* Take the first record of a cache that is not empty. Its carrier only. */
static inline struct fiber *fib_record_pop(struct fib_record_cache *cache)
{
	struct fiber *fiber = cache->first;

	cache->first = fiber->link;
	fib_store(&cache->count, fib_load(&cache->count) - 1);
	/* After a spawn, another spawn is likely. */
	__builtin_prefetch(cache->first, 1);
	return fiber;
}

/* Take more ids and return the first of them: see record_cache.c. */
uint64_t fib_record_more_ids(struct fib_record_cache *cache);

/* The next id. */
static inline uint64_t fib_record_id(struct fib_record_cache *cache)
{
	if (fib_unlikely(!cache->ids || cache->ids_since != fib_coarse_now()))
		return fib_record_more_ids(cache);
	cache->ids--;
	return cache->next_id++;
}

/* Give a taken record its identity, the next id. After this, readers see it. cache may be NULL. */
static inline void fib_record_name(struct fib_record_cache *cache, struct fiber *fiber)
{
	/* Readers treat a record with an id as complete. */
	fib_publish(&fiber->id, cache ? fib_record_id(cache) : fib_registry_next_id());
}

/* Give all records back, and the ids that are left. */
void fib_record_flush(struct fib_record_cache *cache);

#endif
