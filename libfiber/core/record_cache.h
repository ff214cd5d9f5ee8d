/* SPDX-License-Identifier: MIT */
/* record_cache.h - a carrier's own few free records, so that spawning takes no lock. */
#ifndef FIB_CORE_RECORD_CACHE_H
#define FIB_CORE_RECORD_CACHE_H

#include "core/record.h"

/* Touched by its carrier only. Zeroed is empty. */
struct fib_record_cache {
	struct fiber *first; /* linked through ->link, the one given last first */
	unsigned count;
};

/* fib_registry_take() for one record, and its opposite. cache may be NULL. Any thread. */
int fib_record_take(struct fib_record_cache *cache, struct fiber **ret);
void fib_record_give(struct fib_record_cache *cache, struct fiber *fiber);

/* Give a taken record its identity: the next id. After this readers see it. */
void fib_record_name(struct fiber *fiber);

/* Give all of it back. */
void fib_record_flush(struct fib_record_cache *cache);

#endif
