/* SPDX-License-Identifier: MIT */
/*
 * pool.c - allocation of stacks to fibers
 *
 * Stacks come in classes (class.c), by the sizes of stack and guard, both powers of two. Carriers
 * cache a few stacks of the class that they use. A stack with a small guard is never given to a
 * fiber that asks for a large one.
 *
 * A fiber that has not started needs no stack yet, but its stack must be guaranteed: when it
 * starts, a failure could not be reported any more. So its creator gets a promise. The rule: there
 * are always at least as many free stacks as promises, and a take without a promise uses none of
 * those. Stacks in a carrier's cache do not count as free. A fiber that starts with a cached stack
 * leaves its promise to the carrier, for the next spawn.
 */
#include "stack/pool.h"

#include <errno.h>
#include <string.h>

#include "base/lent.h"
#include "os/os.h"
#include "os/spin.h"
#include "stack/class.h"
#include "stack/guard.h"
#include "stack/release.h"
#include "stack/slabs.h"

#define TRIM_EVERY INT64_C(1000000000)

static struct fib_stack_class classes[FIB_CLASSES];
static _Atomic int64_t trimmed_at; /* A: pool.trim */

/* The smallest n for which least << n is not less than size. */
static unsigned doublings(size_t size, size_t least)
{
	return size <= least ? 0 : 64 - (unsigned)__builtin_clzll((size - 1) / least);
}

static unsigned class_of(size_t size, size_t guard)
{
	const size_t page = fib_os_page_size();

	if (guard < page)
		guard = guard ? page : FIB_STACK_GUARD;
	return doublings(size, FIB_STACK_MIN) + doublings(guard, FIB_GUARD_MIN) * FIB_CLASS_SIZES;
}

/* Move stacks that are not promised to the cache, which is empty: one lock for many. The newest is
 * taken first. The caller makes their guards without the lock. */
static void fill(struct fib_stack_class *c, unsigned class, struct fib_stack_cache *cache)
{
	size_t n = c->count - c->promised, i;

	if (n > FIB_STACK_CACHE / 2)
		n = FIB_STACK_CACHE / 2;
	for (i = n; i; i--)
		fib_class_pop_bare(c, &cache->stacks[i - 1]);
	cache->class = class;
	cache->count = (unsigned)n;
}

static bool take_cached(struct fib_stack_cache *cache, unsigned class, struct fib_stack *ret)
{
	if (!cache || !cache->count || cache->class != class)
		return false;
	*ret = cache->stacks[--cache->count];
	return true;
}

/* Under the lock: take one, or fill the empty cache if more are not promised. True: filled. */
static bool take_free(struct fib_stack_class *c, unsigned class, struct fib_stack_cache *cache,
		      struct fib_stack *ret)
{
	const bool fills = cache && !cache->count && c->count - c->promised > 1;

	if (fills)
		fill(c, class, cache);
	else
		fib_class_pop(c, ret);
	return fills;
}

/* Without the lock, after fill(): make the guards, and take the newest. */
static void take_filled(struct fib_stack_cache *cache, struct fib_stack *ret)
{
	fib_class_guard_waiting(cache->stacks, cache->count);
	*ret = cache->stacks[--cache->count];
}

int fib_stack_take(struct fib_stack_cache *cache, size_t size, struct fib_stack *ret)
{
	struct fib_stack_class *c;
	bool filled = false;
	unsigned class;
	int rc = 0;

	if (size > FIB_STACK_MAX)
		return -EINVAL;
	class = class_of(size, 0);
	if (take_cached(cache, class, ret))
		return 0;
	c = &classes[class];
	fib_spin_lock(&c->lock);
	if (c->count > c->promised)
		filled = take_free(c, class, cache, ret);
	else
		rc = fib_class_cut(c, class, ret);
	fib_spin_unlock(&c->lock);
	if (filled)
		take_filled(cache, ret);
	return rc;
}

/* -- promises -- */

static int promise(unsigned class, unsigned n)
{
	struct fib_stack_class *c = &classes[class];
	int rc = 0;

	fib_spin_lock(&c->lock);
	while (rc == 0 && c->count < c->promised + n)
		rc = fib_class_cut_cold(c, class);
	if (rc == 0)
		c->promised += n;
	fib_spin_unlock(&c->lock);
	return rc;
}

static void unpromise(unsigned class, unsigned n)
{
	struct fib_stack_class *c = &classes[class];

	fib_spin_lock(&c->lock);
	c->promised -= n;
	fib_spin_unlock(&c->lock);
}

static void flush_stacks(struct fib_stack_cache *cache);

/* Without memory for another stack, the cached stacks are used as free ones. */
static int promise_one(struct fib_stack_cache *cache, unsigned class)
{
	int rc = promise(class, 1);

	if (rc == 0 || !cache || !cache->count)
		return rc;
	flush_stacks(cache);
	return promise(class, 1);
}

int fib_stack_promise(struct fib_stack_cache *cache, unsigned class)
{
	if (!cache || (cache->promises && cache->promised_class != class))
		return promise_one(cache, class);
	if (!cache->promises) {
		if (promise(class, FIB_STACK_RESERVE) < 0)
			return promise_one(cache, class);
		cache->promises = FIB_STACK_RESERVE;
		cache->promised_class = class;
	}
	cache->promises--;
	return 0;
}

/* Without a cache, with a full one, or with one of another class. */
void fib_stack_unpromise_many(struct fib_stack_cache *cache, unsigned class)
{
	if (!cache || (cache->promises && cache->promised_class != class)) {
		unpromise(class, 1);
		return;
	}
	cache->promised_class = class;
	if (++cache->promises > 2 * FIB_STACK_RESERVE) {
		cache->promises -= FIB_STACK_RESERVE;
		unpromise(class, FIB_STACK_RESERVE);
	}
}

void fib_stack_take_promised(struct fib_stack_cache *cache, unsigned class, struct fib_stack *ret)
{
	struct fib_stack_class *c = &classes[class];
	bool filled;

	if (take_cached(cache, class, ret)) {
		fib_stack_unpromise(cache, class);
		return;
	}
	fib_spin_lock(&c->lock);
	c->promised--;
	filled = take_free(c, class, cache, ret);
	fib_spin_unlock(&c->lock);
	if (filled)
		take_filled(cache, ret);
}

int fib_stack_class(size_t size, size_t guard, unsigned *ret_class, size_t *ret_size)
{
	if (size > FIB_STACK_MAX || guard > FIB_GUARD_MAX)
		return -EINVAL;
	*ret_class = class_of(size, guard);
	*ret_size = fib_class_size(*ret_class);
	return 0;
}

/* -- back -- */

/* Give n stacks of one class to it. */
static void give_to_class(const struct fib_stack *stacks, unsigned n)
{
	struct fib_stack_class *c = &classes[stacks->class];
	unsigned i;

	fib_spin_lock(&c->lock);
	for (i = 0; i < n; i++)
		fib_class_push(c, &stacks[i]);
	fib_spin_unlock(&c->lock);
}

static void flush_stacks(struct fib_stack_cache *cache)
{
	if (cache->count)
		give_to_class(cache->stacks, cache->count);
	cache->count = 0;
}

void fib_stack_flush(struct fib_stack_cache *cache)
{
	flush_stacks(cache);
	if (cache->promises)
		unpromise(cache->promised_class, cache->promises);
	cache->promises = 0;
}

void fib_stack_give(struct fib_stack_cache *cache, const struct fib_stack *stack)
{
	unsigned half = FIB_STACK_CACHE / 2;

	if (stack->class == FIB_STACK_FOREIGN)
		return;
	if (!cache) {
		give_to_class(stack, 1);
		return;
	}
	if (cache->class != stack->class) {
		flush_stacks(cache);
	} else if (cache->count == FIB_STACK_CACHE) {
		/* Give back the older half; the stacks used last stay in the cache. */
		give_to_class(cache->stacks, half);
		memmove(cache->stacks, cache->stacks + half, half * sizeof *cache->stacks);
		cache->count = half;
	}
	cache->class = stack->class;
	cache->stacks[cache->count++] = *stack;
}

/* A thread with the lock, or the owner of the cache, may write this at the same time: a value that
 * was there is read. */
fib_unwatched static size_t look(const size_t *at)
{
	return *(const volatile size_t *)at;
}

void fib_stack_trim(int64_t now)
{
	int64_t last = fib_load(&trimmed_at);
	unsigned i;

	/* label: pool.trim -- one carrier per period wins; no other data depends on it. */
	if (now - last < TRIM_EVERY || !fib_cas(&trimmed_at, &last, now))
		return;
	for (i = 0; i < FIB_CLASSES; i++)
		if (look(&classes[i].cut))
			fib_class_trim(&classes[i]);
}

size_t fib_stack_release(void)
{
	size_t bytes = 0;
	unsigned i;

	for (i = 0; i < FIB_CLASSES; i++)
		if (look(&classes[i].cut))
			bytes += fib_class_release(&classes[i]);
	return bytes;
}

/* -- for observers -- */

fib_unwatched unsigned fib_stack_cached(const struct fib_stack_cache *cache)
{
	return *(const volatile unsigned *)&cache->count;
}

void fib_stack_count(struct fib_stack_totals *ret)
{
	unsigned i;

	*ret = (struct fib_stack_totals){0};
	for (i = 0; i < FIB_CLASSES; i++) {
		const struct fib_stack_class *c = &classes[i];
		const uint64_t made = look(&c->cut);

		ret->made += made;
		ret->bytes += made * fib_class_size(i);
		ret->free += look(&c->count);
		ret->cold += look(&c->cold);
		ret->promised += look(&c->promised);
		ret->trimmed += look(&c->trimmed);
	}
}

void fib_stack_lock_pool(void)
{
	unsigned i;

	for (i = 0; i < FIB_CLASSES; i++)
		fib_spin_lock(&classes[i].lock);
	fib_guard_lock();
	fib_slabs_lock();
}

void fib_stack_forget(void)
{
	fib_guard_forget();
}

void fib_stack_unlock_pool(void)
{
	unsigned i;

	fib_slabs_unlock();
	fib_guard_unlock();
	for (i = 0; i < FIB_CLASSES; i++)
		fib_spin_unlock(&classes[i].lock);
}

int fib_stack_foreign(void *memory, size_t size, struct fib_stack *ret)
{
	if (size < FIB_STACK_MIN)
		return -EINVAL;
	fib_lent(memory, size);
	ret->low = memory;
	ret->size = size;
	ret->colour = 0;
	ret->class = FIB_STACK_FOREIGN;
	ret->guard = 0;
	return 0;
}
