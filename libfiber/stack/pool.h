/* SPDX-License-Identifier: MIT */
/* pool.h - allocation of stacks */
#ifndef FIB_STACK_POOL_H
#define FIB_STACK_POOL_H

#include <stdbool.h>

#include "base/compiler.h"
#include "reserve.h"
#include "stack/stack.h"

#define FIB_STACK_CACHE 32

/* A carrier's cache of stacks of the size it used last. Only its carrier uses it. Zeroed memory is
 * an empty cache. */
struct fib_stack_cache {
	unsigned count;
	unsigned class;
	unsigned promises; /* taken from the pool, not yet given to a fiber */
	unsigned promised_class;
	struct fib_stack stacks[FIB_STACK_CACHE];
};

/*
 * Take a stack of at least size usable bytes (rounded up to a power of two, at least FIB_STACK_MIN)
 * with a guard of the default size. Its contents are undefined. cache may be NULL. Returns 0,
 * -EINVAL for a size over FIB_STACK_MAX, or -ENOMEM, also when the guard cannot be made.
 */
int fib_stack_take(struct fib_stack_cache *cache, size_t size, struct fib_stack *ret);

/*
 * Find the class for stacks of at least size bytes with guards of at least guard bytes (0:
 * FIB_STACK_GUARD), and the size of its stacks in bytes. Returns 0, or -EINVAL for a size over
 * FIB_STACK_MAX or a guard over FIB_GUARD_MAX.
 */
int fib_stack_class(size_t size, size_t guard, unsigned *ret_class, size_t *ret_size);

/* Reserve a stack of that class for a later take. Returns 0 or -ENOMEM. The promise is used by
 * fib_stack_take_promised(), which cannot fail, or given back by fib_stack_unpromise(). cache may
 * be NULL. */
int fib_stack_promise(struct fib_stack_cache *cache, unsigned class);
/* Take a promise from the cache. Returns false if it has none of that class. */
static inline bool fib_stack_promise_cached(struct fib_stack_cache *cache, unsigned class)
{
	if (!cache->promises || cache->promised_class != class)
		return false;
	cache->promises--;
	return true;
}
void fib_stack_take_promised(struct fib_stack_cache *cache, unsigned class, struct fib_stack *ret);
void fib_stack_unpromise_many(struct fib_stack_cache *cache, unsigned class);
static fib_always_inline void fib_stack_unpromise(struct fib_stack_cache *cache, unsigned class)
{
	if (cache && cache->promised_class == class && cache->promises < 2 * FIB_STACK_RESERVE)
		cache->promises++;
	else
		fib_stack_unpromise_many(cache, class);
}

/* Give the stack back. No context runs on it any more, or the owner of the cache is about to leave
 * it: another thread cannot get it before that. Has no effect on a foreign stack. */
void fib_stack_give(struct fib_stack_cache *cache, const struct fib_stack *stack);

/* Empty a cache into the pool, including its promises. */
void fib_stack_flush(struct fib_stack_cache *cache);

/* Give the memory of stacks that were not taken for a whole period back to the system. Called by a
 * carrier that is about to sleep; has an effect at most once a second. now: ns. */
void fib_stack_trim(int64_t now);

/* Give all memory of the free stacks back to the system: see fiber_trim(). Returns the bytes of the
 * pages that were resident. Any thread. */
size_t fib_stack_release(void);

/* Totals of all sizes. */
struct fib_stack_totals {
	uint64_t made;	   /* ever; stacks are never unmapped */
	uint64_t bytes;	   /* of address space of all stacks, without guards */
	uint64_t free;	   /* in the pool, without those in the caches of carriers */
	uint64_t cold;	   /* of the free ones: without memory */
	uint64_t promised; /* of the free ones: reserved for fibers that have not started */
	uint64_t trimmed;  /* how often a stack has lost its memory because it was idle */
};

/* Read the totals without a lock: each number was true a moment ago, but not all at the same time.
 * Any thread. */
void fib_stack_count(struct fib_stack_totals *ret);

/* The number of stacks in a carrier's cache. Any thread, while the carrier exists. */
unsigned fib_stack_cached(const struct fib_stack_cache *cache);

/* Lock out other threads while the process forks. */
void fib_stack_lock_pool(void);
void fib_stack_unlock_pool(void);
/* In the child, before it unlocks. */
void fib_stack_forget(void);

/* Bytes to add to a take, so that the wanted size remains below the colour. */
#define FIB_STACK_COLOURS 3072u

/* Describe memory of the caller as a stack. Returns 0, or -EINVAL when it is too small to run
 * on. */
int fib_stack_foreign(void *memory, size_t size, struct fib_stack *ret);

/* Stacks that are made from now on have no colour: less memory, slower switches. */
void fib_stack_plain_tops(void);

/* Usable bytes: contexts start at the top, less the colour. */
static inline size_t fib_stack_usable(const struct fib_stack *stack)
{
	return stack->size - stack->colour;
}

#endif
