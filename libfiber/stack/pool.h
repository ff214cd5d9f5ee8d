/* SPDX-License-Identifier: MIT */
/*
 * pool.h - where stacks come from and go to
 */
#ifndef FIB_STACK_POOL_H
#define FIB_STACK_POOL_H

#include <stdbool.h>

#include "stack/stack.h"

#define FIB_STACK_CACHE 32

/* A carrier's own few stacks of the size it used last; touched by its carrier only. Zeroed is empty. */
struct fib_stack_cache {
	unsigned count;
	unsigned class;
	unsigned promises; /* that nobody has been given yet */
	unsigned promised_class;
	struct fib_stack stacks[FIB_STACK_CACHE];
};

/*
 * Take a stack of at least size usable bytes (rounded up to a power of two, at least
 * FIB_STACK_MIN) with a guard of the default size. Its contents are whatever the last user left. cache may be NULL. 0, -EINVAL for a
 * size over FIB_STACK_MAX, -ENOMEM, also when the guard cannot be made.
 */
int fib_stack_take(struct fib_stack_cache *cache, size_t size, struct fib_stack *ret);

/*
 * The class for stacks of at least size bytes with guards of at least guard bytes (0: FIB_STACK_GUARD), and how many bytes
 * its stacks have. 0, -EINVAL for a size over FIB_STACK_MAX or a guard over FIB_GUARD_MAX.
 */
int fib_stack_class(size_t size, size_t guard, unsigned *ret_class, size_t *ret_size);

/* Make sure that there is a stack of that class when it is asked for: 0, -ENOMEM. A promise is kept
 * (take_promised, which cannot fail) or given back. cache may be NULL. */
int fib_stack_promise(struct fib_stack_cache *cache, unsigned class);
/* The same where the cache has one of that class. */
static inline bool fib_stack_promise_cached(struct fib_stack_cache *cache, unsigned class)
{
	if (!cache->promises || cache->promised_class != class)
		return false;
	cache->promises--;
	return true;
}
void fib_stack_take_promised(struct fib_stack_cache *cache, unsigned class, struct fib_stack *ret);
void fib_stack_unpromise(struct fib_stack_cache *cache, unsigned class);

/* Give it back; nobody runs on it any more, or the owner of the cache is about to leave it: another thread
 * cannot get it before that. Nothing happens to a foreign one. */
void fib_stack_give(struct fib_stack_cache *cache, const struct fib_stack *stack);

/* Empty a cache into the pool, promises too. */
void fib_stack_flush(struct fib_stack_cache *cache);

/* Give the memory of stacks that nobody took for a whole period back to the system. Called by a
 * carrier that is about to sleep; does nothing more than once a second. now: ns. */
void fib_stack_trim(int64_t now);

/* Of all sizes together. */
struct fib_stack_totals {
	uint64_t made;	   /* ever; none is ever unmade */
	uint64_t bytes;	   /* of address space that they have, without guards */
	uint64_t free;	   /* in the pool; what lies in the caches of carriers is not */
	uint64_t cold;	   /* of the free ones: those without memory */
	uint64_t promised; /* of the free ones: for fibers that have not begun */
	uint64_t trimmed;  /* ever: how often one lost its memory for want of use */
};

/* Look without a lock: each number was true a moment ago, but not all at the same. Any thread. */
void fib_stack_count(struct fib_stack_totals *ret);

/* How many lie in a carrier's cache. Any thread, while there is the carrier. */
unsigned fib_stack_cached(const struct fib_stack_cache *cache);

/* Keep others out of the pool while the process forks. */
void fib_stack_lock_pool(void);
void fib_stack_unlock_pool(void);

/* A take of that many bytes more leaves what was wanted below the colour. */
#define FIB_STACK_COLOURS 3072u

/* Describe memory of the caller as a stack. 0, -EINVAL when it is too small to run on. */
int fib_stack_foreign(void *memory, size_t size, struct fib_stack *ret);

/* The end that contexts start at: the top, less the colour. */
static inline size_t fib_stack_usable(const struct fib_stack *stack)
{
	return stack->size - stack->colour;
}

#endif
