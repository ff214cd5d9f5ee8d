/* SPDX-License-Identifier: MIT */
/*
 * pool.c - stacks by power-of-two class
 *
 * A class grows by slabs: one mapping of many stacks, each with a guard below it. A new stack is
 * guarded when it is first taken. A returned stack keeps its pages, since the next fiber wants them
 * warm, and is taken again last in, first out; what nobody took for a whole period loses its pages
 * and keeps its address.
 *
 * Tops are coloured: page-aligned tops would put the hot ends of all stacks into the same few cache
 * sets. A colour is a property of the place, so a stack keeps it for life.
 *
 * Free stacks are linked through a node at their own top, which is resident anyway.
 */
#include "stack/pool.h"

#include <errno.h>
#include <string.h>

#include "base/list.h"
#include "os/os.h"
#include "os/spin.h"
#include "stack/guard.h"

#define CLASSES 17 /* 16 KiB << 0 .. 16 KiB << 16 */

#define SLAB	    (16u << 20)
#define COLOURS	    16u
#define COLOUR_STEP 192u
_Static_assert(COLOURS *COLOUR_STEP <= FIB_STACK_COLOURS, "pool.h");
#define TRIM_EVERY INT64_C(1000000000)

struct free_stack {
	struct fib_list link;
	struct fib_stack stack;
};

/* L: all under lock */
struct stack_class {
	_Atomic uint32_t lock;
	struct fib_list warm; /* newest first */
	struct fib_list cold; /* without pages but the top one */
	unsigned warm_count;
	unsigned idle; /* the fewest warm ones there were since the last trim */
	char *next;    /* in the newest slab */
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
	unsigned class = 0;

	while (class_size(class) < size)
		class ++;
	return class;
}

static struct free_stack *node_of(const struct fib_stack *stack)
{
	uintptr_t top = (uintptr_t)stack->low + stack->size - stack->colour;

	return (struct free_stack *)(top & ~(uintptr_t)63) - 1;
}

static void prepare(struct stack_class *c)
{
	if (!c->warm.next) {
		fib_list_init(&c->warm);
		fib_list_init(&c->cold);
	}
}

static struct free_stack *take_free(struct stack_class *c)
{
	struct fib_list *node = fib_list_take(&c->warm);

	if (node) {
		c->warm_count--;
		if (c->warm_count < c->idle)
			c->idle = c->warm_count;
	} else {
		node = fib_list_take(&c->cold);
	}
	return node ? fib_container(node, struct free_stack, link) : NULL;
}

/* Cut the next stack from the slab. Under the lock: growing is rare and must happen once. */
static int carve(struct stack_class *c, unsigned class, struct fib_stack *ret)
{
	size_t stride = class_size(class) + FIB_STACK_GUARD;
	int rc;

	if (c->next == c->end) {
		size_t count = SLAB / stride ? SLAB / stride : 1;
		void *slab;

		rc = fib_os_map_stacks(count * stride, &slab);
		if (rc < 0)
			return -ENOMEM;
		c->next = slab;
		c->end = c->next + count * stride;
	}
	rc = fib_guard(c->next, FIB_STACK_GUARD);
	if (rc < 0)
		return -ENOMEM;
	ret->low = c->next + FIB_STACK_GUARD;
	ret->size = class_size(class);
	ret->colour = c->colour++ % COLOURS * COLOUR_STEP;
	ret->class = (uint16_t) class;
	c->next += stride;
	return 0;
}

/* Move some that are free to the cache, which is empty: one lock for many. The newest will be taken first. */
static void fill(struct stack_class *c, unsigned class, struct fib_stack_cache *cache)
{
	unsigned at = FIB_STACK_CACHE / 2;
	struct free_stack *found;

	while (at && (found = take_free(c)))
		cache->stacks[--at] = found->stack;
	cache->class = class;
	cache->count = FIB_STACK_CACHE / 2 - at;
	memmove(cache->stacks, cache->stacks + at, cache->count * sizeof *cache->stacks);
}

int fib_stack_take(struct fib_stack_cache *cache, size_t size, struct fib_stack *ret)
{
	struct stack_class *c;
	struct free_stack *found;
	unsigned class;
	int rc = 0;

	if (size > FIB_STACK_MAX)
		return -EINVAL;
	class = class_of(size);
	if (cache && cache->count && cache->class == class) {
		*ret = cache->stacks[--cache->count];
		return 0;
	}
	c = &classes[class];
	fib_spin_lock(&c->lock);
	prepare(c);
	found = take_free(c);
	if (found) {
		*ret = found->stack;
		if (cache && !cache->count)
			fill(c, class, cache);
	} else {
		rc = carve(c, class, ret);
	}
	fib_spin_unlock(&c->lock);
	return rc;
}

/* Give n stacks of one class to it. */
static void give_to_class(const struct fib_stack *stacks, unsigned n)
{
	struct stack_class *c = &classes[stacks->class];
	unsigned i;

	fib_spin_lock(&c->lock);
	for (i = 0; i < n; i++) {
		struct free_stack *node = node_of(&stacks[i]);

		node->stack = stacks[i];
		/* Newest first: append at the head's front. */
		fib_list_append(c->warm.next, &node->link);
	}
	c->warm_count += n;
	fib_spin_unlock(&c->lock);
}

void fib_stack_flush(struct fib_stack_cache *cache)
{
	if (cache->count)
		give_to_class(cache->stacks, cache->count);
	cache->count = 0;
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
		fib_stack_flush(cache);
	} else if (cache->count == FIB_STACK_CACHE) {
		/* The older half; what was used last stays at hand. */
		give_to_class(cache->stacks, half);
		memmove(cache->stacks, cache->stacks + half, half * sizeof *cache->stacks);
		cache->count = half;
	}
	cache->class = stack->class;
	cache->stacks[cache->count++] = *stack;
}

/* Drop the pages of the stacks that lay idle for the whole period: the oldest ones. */
static void trim_class(struct stack_class *c)
{
	struct fib_list idle;
	struct fib_list *node;
	unsigned n;

	fib_list_init(&idle);
	fib_spin_lock(&c->lock);
	prepare(c);
	for (n = c->idle; n && !fib_list_empty(&c->warm); n--) {
		node = c->warm.prev;
		fib_list_remove(node);
		c->warm_count--;
		fib_list_append(&idle, node);
	}
	c->idle = c->warm_count;
	fib_spin_unlock(&c->lock);

	while ((node = fib_list_take(&idle))) {
		struct free_stack *free = fib_container(node, struct free_stack, link);
		uintptr_t keep = (uintptr_t)free & ~(uintptr_t)(fib_os_page_size() - 1);

		fib_os_discard(free->stack.low, keep - (uintptr_t)free->stack.low);
		fib_spin_lock(&c->lock);
		fib_list_append(&c->cold, node);
		fib_spin_unlock(&c->lock);
	}
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
