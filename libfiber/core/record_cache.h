/* SPDX-License-Identifier: MIT */
/* record_cache.h - a carrier's own few free records, so that spawning takes no lock. */
#ifndef FIB_CORE_RECORD_CACHE_H
#define FIB_CORE_RECORD_CACHE_H

#include <stdbool.h>

#include "base/atomic.h"
#include "core/record.h"
#include "core/registry.h"

/* Touched by its carrier only, but for the count, which others may read. Zeroed is empty. */
struct fib_record_cache {
	struct fiber *first; /* linked through ->link, the one given last first */
	_Atomic unsigned count;
	bool shares;	   /* I: there are other carriers, who want ids, too */
	unsigned ids;	   /* ids that are left */
	unsigned ids_most; /* how many there were */
	uint64_t next_id;
	int64_t ids_since; /* when they were taken: ns of the coarse clock */
};

/* fib_registry_take() for one record, and its opposite. cache may be NULL. Any thread. */
int fib_record_take(struct fib_record_cache *cache, struct fiber **ret);
void fib_record_give(struct fib_record_cache *cache, struct fiber *fiber);

/* How many it keeps: they are taken, and no fibers. Any thread. */
static inline unsigned fib_record_kept(const struct fib_record_cache *cache)
{
	return fib_load(&cache->count);
}

/* The first of a cache that is not empty. Its carrier only. */
static inline struct fiber *fib_record_pop(struct fib_record_cache *cache)
{
	struct fiber *fiber = cache->first;

	cache->first = fiber->link;
	fib_store(&cache->count, fib_load(&cache->count) - 1);
	/* Who spawns one most often spawns more. */
	__builtin_prefetch(cache->first, 1);
	return fiber;
}

/* The next id, where carriers stand in each other's way: see record_cache.c. */
uint64_t fib_record_shared_id(struct fib_record_cache *cache);

/* Give a taken record its identity: the next id. After this readers see it. cache may be NULL. */
static inline void fib_record_name(struct fib_record_cache *cache, struct fiber *fiber)
{
	/* Readers take a record with an id for whole. */
	fib_publish(&fiber->id,
		    cache && cache->shares ? fib_record_shared_id(cache) : fib_registry_next_id());
}

/* Give all of it back. */
void fib_record_flush(struct fib_record_cache *cache);

#endif
