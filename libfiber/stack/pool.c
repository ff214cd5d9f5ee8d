/* SPDX-License-Identifier: MIT */
/*
 * pool.c - stacks by power-of-two class
 *
 * A class grows by slabs: one mapping of many stacks, each with a guard below it. A new stack is
 * guarded when it is cut from its slab. A returned stack keeps its pages, since the next fiber wants them
 * warm, and is taken again last in, first out; what nobody took for a whole period loses its pages
 * and keeps its address.
 *
 * A fiber that has not begun needs no stack yet, but it must be sure to get one: by then nobody could be told
 * that there is none. So its maker gets a promise. The rule: there are never fewer free stacks than
 * promises, and who has no promise takes none of those. A stack that lies in a carrier's cache is not counted as
 * free, so a fiber that begins there takes it and leaves its promise to the carrier, for the next spawn.
 *
 * Tops are coloured: page-aligned tops would put the hot ends of all stacks into the same few cache
 * sets. A colour is a property of the place, so a stack keeps it for life.
 *
 * Free stacks stand in a table beside them: none is touched while nobody runs on it.
 */
#include "stack/pool.h"

#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "os/spin.h"
#include "stack/guard.h"

#define CLASSES 17 /* 16 KiB << 0 .. 16 KiB << 16 */

#define SLAB	    (16u << 20)
#define COLOURS	    16u
#define COLOUR_STEP 192u
_Static_assert(COLOURS *COLOUR_STEP <= FIB_STACK_COLOURS, "pool.h");
#define TRIM_EVERY INT64_C(1000000000)
#define WARM_UP	   16u
#define PROMISES   32u /* as many as a carrier gets or gives back at a time */

/* L: all under lock */
struct stack_class {
	_Atomic uint32_t lock;
	/* Below `cold` those without pages, then the warm ones, newest last. Has room for all that were cut. */
	struct fib_stack *free;
	size_t room;
	size_t count;
	size_t cold;
	size_t promised; /* at most count */
	size_t cut;	 /* ever */
	size_t idle;	 /* the fewest warm ones there were since the last trim */
	char *next;	 /* in the newest slab */
	char *guarded;	 /* as far as this stacks from next on have their guard */
	char *end;
	unsigned colour;
};

static struct stack_class classes[CLASSES];
static _Atomic int64_t trimmed_at; /* A: pool.trim */

static size_t class_size(unsigned class)
{
	return (size_t)FIB_STACK_MIN << class;
}

static unsigned class_of(size_t size)
{
	if (size <= FIB_STACK_MIN)
		return 0;
	return 64 - (unsigned)__builtin_clzll((size - 1) / FIB_STACK_MIN);
}

static void push(struct stack_class *c, const struct fib_stack *stack)
{
	c->free[c->count++] = *stack;
}

/* As the last that will be taken. */
static void push_cold(struct stack_class *c, const struct fib_stack *stack)
{
	c->free[c->count++] = c->free[c->cold];
	c->free[c->cold++] = *stack;
}

/* Those that will be taken next get the page that they begin on: that costs less than a fault for each. */
static void warm_up(struct stack_class *c)
{
	void *tops[WARM_UP];
	unsigned n = 0;

	while (n < WARM_UP && c->cold) {
		const struct fib_stack *stack = &c->free[--c->cold];

		tops[n++] = (char *)stack->low + fib_stack_usable(stack) - 1;
	}
	fib_os_provide(tops, n);
}

/* There is one. */
static void pop(struct stack_class *c, struct fib_stack *ret)
{
	if (c->cold == c->count)
		warm_up(c);
	*ret = c->free[--c->count];
	if (c->count - c->cold < c->idle)
		c->idle = c->count - c->cold;
}

/* Room in the table for n more. */
static int make_room(struct stack_class *c, size_t n)
{
	size_t room = c->room ? c->room : 512;
	void *table;

	if (c->cut + n <= c->room)
		return 0;
	while (room < c->cut + n)
		room *= 2;
	if (fib_os_map_stacks(room * sizeof *c->free, &table) < 0)
		return -ENOMEM;
	if (c->free) {
		memcpy(table, c->free, c->count * sizeof *c->free);
		fib_os_unmap(c->free, c->room * sizeof *c->free);
	}
	c->free = table;
	c->room = room;
	return 0;
}

/* Cut the next stack from the slab. Under the lock: growing is rare and must happen once. */
static int carve(struct stack_class *c, unsigned class, struct fib_stack *ret)
{
	size_t stride = class_size(class) + FIB_STACK_GUARD;
	int rc;

	if (c->next == c->end) {
		size_t count = SLAB / stride ? SLAB / stride : 1;
		void *slab;

		if (make_room(c, count) < 0 || fib_os_map_stacks(count * stride, &slab) < 0)
			return -ENOMEM;
		c->next = c->guarded = slab;
		c->end = c->next + count * stride;
	}
	if (c->next == c->guarded) {
		size_t left = (size_t)(c->end - c->next) / stride;

		rc = fib_guard(c->next, FIB_STACK_GUARD, stride, left < 64 ? (unsigned)left : 64);
		if (rc < 0)
			return -ENOMEM;
		c->guarded += (size_t)rc * stride;
	}
	ret->low = c->next + FIB_STACK_GUARD;
	ret->size = class_size(class);
	ret->colour = c->colour++ % COLOURS * COLOUR_STEP;
	ret->class = (uint16_t) class;
	c->next += stride;
	c->cut++;
	return 0;
}

/* Move some that nobody was promised to the cache, which is empty: one lock for many. The newest will be taken
 * first. */
static void fill(struct stack_class *c, unsigned class, struct fib_stack_cache *cache)
{
	size_t n = c->count - c->promised, i;

	if (n > FIB_STACK_CACHE / 2)
		n = FIB_STACK_CACHE / 2;
	for (i = n; i; i--)
		pop(c, &cache->stacks[i - 1]);
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

int fib_stack_take(struct fib_stack_cache *cache, size_t size, struct fib_stack *ret)
{
	struct stack_class *c;
	unsigned class;
	int rc = 0;

	if (size > FIB_STACK_MAX)
		return -EINVAL;
	class = class_of(size);
	if (take_cached(cache, class, ret))
		return 0;
	c = &classes[class];
	fib_spin_lock(&c->lock);
	if (c->count > c->promised) {
		pop(c, ret);
		if (cache && !cache->count)
			fill(c, class, cache);
	} else {
		rc = carve(c, class, ret);
	}
	fib_spin_unlock(&c->lock);
	return rc;
}

/* -- promises -- */

static int promise(unsigned class, unsigned n)
{
	struct stack_class *c = &classes[class];
	struct fib_stack stack;
	int rc = 0;

	fib_spin_lock(&c->lock);
	while (rc == 0 && c->count < c->promised + n) {
		rc = carve(c, class, &stack);
		if (rc == 0)
			push_cold(c, &stack);
	}
	if (rc == 0)
		c->promised += n;
	fib_spin_unlock(&c->lock);
	return rc;
}

static void unpromise(unsigned class, unsigned n)
{
	struct stack_class *c = &classes[class];

	fib_spin_lock(&c->lock);
	c->promised -= n;
	fib_spin_unlock(&c->lock);
}

static void flush_stacks(struct fib_stack_cache *cache);

/* Where there is no memory for another stack, those at hand are free ones too. */
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
		if (promise(class, PROMISES) < 0)
			return promise_one(cache, class);
		cache->promises = PROMISES;
		cache->promised_class = class;
	}
	cache->promises--;
	return 0;
}

void fib_stack_unpromise(struct fib_stack_cache *cache, unsigned class)
{
	if (!cache || (cache->promises && cache->promised_class != class)) {
		unpromise(class, 1);
		return;
	}
	cache->promised_class = class;
	if (++cache->promises > 2 * PROMISES) {
		cache->promises -= PROMISES;
		unpromise(class, PROMISES);
	}
}

void fib_stack_take_promised(struct fib_stack_cache *cache, unsigned class, struct fib_stack *ret)
{
	struct stack_class *c = &classes[class];

	if (take_cached(cache, class, ret)) {
		fib_stack_unpromise(cache, class);
		return;
	}
	fib_spin_lock(&c->lock);
	c->promised--;
	pop(c, ret);
	if (cache && !cache->count)
		fill(c, class, cache);
	fib_spin_unlock(&c->lock);
}

int fib_stack_class(size_t size, unsigned *ret_class, size_t *ret_size)
{
	if (size > FIB_STACK_MAX)
		return -EINVAL;
	*ret_class = class_of(size);
	*ret_size = class_size(*ret_class);
	return 0;
}

/* -- back -- */

/* Give n stacks of one class to it. */
static void give_to_class(const struct fib_stack *stacks, unsigned n)
{
	struct stack_class *c = &classes[stacks->class];
	unsigned i;

	fib_spin_lock(&c->lock);
	for (i = 0; i < n; i++)
		push(c, &stacks[i]);
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
		/* The older half; what was used last stays at hand. */
		give_to_class(cache->stacks, half);
		memmove(cache->stacks, cache->stacks + half, half * sizeof *cache->stacks);
		cache->count = half;
	}
	cache->class = stack->class;
	cache->stacks[cache->count++] = *stack;
}

/* Drop the pages of the stacks that lay idle for the whole period: the oldest ones. One at a time under the lock,
 * so that nobody takes it meanwhile, or waits for long. */
static void trim_class(struct stack_class *c)
{
	size_t n;

	fib_spin_lock(&c->lock);
	for (n = c->idle; n && c->cold < c->count; n--) {
		const struct fib_stack *stack = &c->free[c->cold++];

		fib_os_discard(stack->low, stack->size);
		fib_spin_unlock(&c->lock);
		fib_spin_lock(&c->lock);
	}
	c->idle = c->count - c->cold;
	fib_spin_unlock(&c->lock);
}

void fib_stack_trim(int64_t now)
{
	int64_t last = fib_load(&trimmed_at);
	unsigned i;

	/* label: pool.trim -- one carrier per period wins; nothing else depends on it. */
	if (now - last < TRIM_EVERY || !fib_cas(&trimmed_at, &last, now))
		return;
	for (i = 0; i < CLASSES; i++)
		trim_class(&classes[i]);
}

void fib_stack_lock_pool(void)
{
	unsigned i;

	for (i = 0; i < CLASSES; i++)
		fib_spin_lock(&classes[i].lock);
	fib_guard_lock();
}

void fib_stack_unlock_pool(void)
{
	unsigned i;

	fib_guard_unlock();
	for (i = 0; i < CLASSES; i++)
		fib_spin_unlock(&classes[i].lock);
}

int fib_stack_foreign(void *memory, size_t size, struct fib_stack *ret)
{
	if (size < FIB_STACK_MIN)
		return -EINVAL;
	ret->low = memory;
	ret->size = size;
	ret->colour = 0;
	ret->class = FIB_STACK_FOREIGN;
	ret->unused = 0;
	return 0;
}
