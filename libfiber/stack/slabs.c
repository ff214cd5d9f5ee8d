/* SPDX-License-Identifier: MIT */
/*
 * slabs.c - a table of the slabs that stacks are cut from
 *
 * A fault handler needs to know whether an address is in the guard of any stack. It runs in a
 * signal handler, perhaps while its thread holds a lock of the pool, so it takes no lock.
 *
 * The table only grows. It is a list of blocks, none of which is ever unmapped or moved. An entry
 * is written before `count` includes it, and a block is zeroed before `next` points to it; neither
 * changes afterwards. So a reader that loads `count` and `next` with acquire sees complete entries,
 * and misses only a slab that is being added at this moment. No fiber runs on a stack of that slab:
 * its class is locked until the slab has been added, and the first stack is cut afterwards.
 *
 * A slab of 16 MiB has about 50 stacks of the default size, so a million stacks are 20,000 entries:
 * 40 us for the handler.
 */
#include "stack/slabs.h"

#include <errno.h>

#include "base/atomic.h"
#include "layout/layout.h"
#include "os/os.h"
#include "os/spin.h"
#include "stack/class.h"

#define ENTRIES 169u

struct slab {
	uint64_t low, high;
	uint64_t class;
};

struct block {
	_Atomic uint32_t count;	    /* L writes, A reads: slabs.entry */
	_Atomic uint64_t next;	    /* L writes, A reads: slabs.block: its address; 0: none */
	struct slab slabs[ENTRIES]; /* L until count includes it, then read-only */
};
_Static_assert(sizeof(struct block) <= 4096, "a page");

_Static_assert(offsetof(struct block, next) == offsetof(struct fib_layout_stacks, next) &&
		       offsetof(struct block, slabs) == offsetof(struct fib_layout_stacks, at) &&
		       offsetof(struct slab, high) == sizeof(uint64_t) &&
		       sizeof(struct slab) == 3 * sizeof(uint64_t) && ENTRIES == FIB_LAYOUT_STACKS,
	       "readers outside read this table");

static struct block first;

/* L: all under lock */
static struct {
	_Atomic uint32_t lock;
	struct block *last;
} table = {.last = &first};

uint64_t fib_slabs_table(void)
{
	return (uint64_t)(uintptr_t)&first;
}

void fib_slabs_lock(void)
{
	fib_spin_lock(&table.lock);
}

void fib_slabs_unlock(void)
{
	fib_spin_unlock(&table.lock);
}

/* Return a block with room for one more entry; NULL without memory. */
static struct block *block_with_room(void)
{
	struct block *last = table.last;
	void *more;

	if (fib_load(&last->count) < ENTRIES)
		return last;
	if (fib_os_map_stacks(sizeof *last, &more) < 0)
		return NULL;
	table.last = more;
	/* label: slabs.block -- a reader that sees the block sees it zeroed. */
	fib_store_release(&last->next, (uint64_t)(uintptr_t)more);
	return table.last;
}

int fib_slabs_add(const void *low, size_t size, unsigned class)
{
	const uint64_t at = (uint64_t)(uintptr_t)low;
	struct block *b;

	fib_spin_lock(&table.lock);
	b = block_with_room();
	if (b) {
		const uint32_t n = fib_load(&b->count);

		b->slabs[n] = (struct slab){at, at + size, class};
		/* label: slabs.entry -- a reader that sees the count sees the entry. */
		fib_store_release(&b->count, n + 1);
	}
	fib_spin_unlock(&table.lock);
	return b ? 0 : -ENOMEM;
}

static enum fib_slab_part part_of(const struct slab *s, uint64_t address)
{
	const uint64_t guard = fib_class_guard((unsigned)s->class);

	return (address - s->low) % (guard + fib_class_size((unsigned)s->class)) < guard
		       ? FIB_SLAB_GUARD
		       : FIB_SLAB_STACK;
}

enum fib_slab_part fib_slabs_find(uint64_t address)
{
	const struct block *b = &first;
	uint32_t i, count;

	while (b) {
		/* pairs: slabs.entry */
		count = fib_load_acquire(&b->count);
		for (i = 0; i < count; i++)
			if (address >= b->slabs[i].low && address < b->slabs[i].high)
				return part_of(&b->slabs[i], address);
		/* pairs: slabs.block */
		b = (const struct block *)(uintptr_t)fib_load_acquire(&b->next);
	}
	return FIB_SLAB_NONE;
}
