/* SPDX-License-Identifier: MIT */
/* shadow.c - find the cell of an address: a table of tables of pages */
#include "memory/shadow.h"

#include "base/compiler.h"
#include "memory/arena.h"

#define ADDRESS_BITS 48
#define PAGE_BITS    12
#define MIDDLE_BITS  18
#define CELLS	     (1u << (PAGE_BITS - 3))
#define TOP	     (1u << (ADDRESS_BITS - PAGE_BITS - MIDDLE_BITS))

struct page {
	uint64_t schedule;   /* in which it was used last */
	uint64_t generation; /* of its cells */
	uint32_t whose;	     /* what new cells are */
	struct fib_cell cells[CELLS];
};

static struct page **top[TOP];
static struct {
	uint64_t schedule, generation;
	uintptr_t last_number; /* of the page found last */
	struct page *last;
} shadow;

void fib_shadow_begin(void)
{
	shadow.schedule++;
	shadow.last = NULL;
}

/* NULL: the page was never used. */
static struct page *existing(uintptr_t number)
{
	struct page **middle = top[(number >> MIDDLE_BITS) % TOP];

	return middle ? middle[number % (1u << MIDDLE_BITS)] : NULL;
}

static struct page *make(uintptr_t number)
{
	struct page ***middle = &top[(number >> MIDDLE_BITS) % TOP];
	struct page *page = fib_arena_keep(sizeof *page);

	if (!*middle)
		*middle = fib_arena_keep(sizeof(struct page *) << MIDDLE_BITS);
	(*middle)[number % (1u << MIDDLE_BITS)] = page;
	return page;
}

/* The page is used in this schedule; its cells are new. */
static void renew_page(struct page *page, uint32_t whose)
{
	page->schedule = shadow.schedule;
	page->generation = ++shadow.generation;
	page->whose = whose;
}

static struct page *page_of(uintptr_t number)
{
	struct page *page;

	if (fib_likely(shadow.last && shadow.last_number == number))
		return shadow.last;
	page = existing(number);
	if (fib_unlikely(!page))
		page = make(number);
	if (page->schedule != shadow.schedule)
		renew_page(page, FIB_CELL_UNTOUCHED);
	shadow.last_number = number;
	shadow.last = page;
	return page;
}

static void renew_cell(struct page *page, struct fib_cell *cell, uint32_t whose)
{
	cell->generation = page->generation;
	cell->seen.mask = 0;
	cell->seen.more = NULL;
	cell->syncs = NULL;
	cell->whose = whose;
}

struct fib_cell *fib_shadow_cell(uintptr_t at)
{
	struct page *page = page_of(at >> PAGE_BITS);
	struct fib_cell *cell = &page->cells[(at >> 3) % CELLS];

	if (fib_unlikely(cell->generation != page->generation))
		renew_cell(page, cell, page->whose);
	return cell;
}

struct fib_sync *fib_shadow_sync(const void *at)
{
	struct fib_cell *cell = fib_shadow_cell((uintptr_t)at);
	const uint8_t offset = (uintptr_t)at & 7;
	struct fib_sync *sync;

	for (sync = cell->syncs; sync; sync = sync->more)
		if (sync->offset == offset)
			return sync;
	sync = fib_arena_take(sizeof *sync);
	*sync = (struct fib_sync){.more = cell->syncs, .offset = offset};
	cell->syncs = sync;
	return sync;
}

static void renew_cells(uintptr_t at, uintptr_t end, uint32_t whose)
{
	struct page *page = page_of(at >> PAGE_BITS);

	for (; at < end; at += 8)
		renew_cell(page, &page->cells[(at >> 3) % CELLS], whose);
}

void fib_shadow_renew(uintptr_t at, size_t size, uint32_t whose)
{
	const uintptr_t end = (at + size + 7) & ~(uintptr_t)7;
	uintptr_t next;

	for (at &= ~(uintptr_t)7; at < end; at = next) {
		next = (at | ((1u << PAGE_BITS) - 1)) + 1;
		if (next <= end && at % (1u << PAGE_BITS) == 0) {
			struct page *page = existing(at >> PAGE_BITS);

			/* A page that was never used stays unused if no fiber would own it. */
			if (!page && whose != FIB_CELL_UNTOUCHED)
				page = make(at >> PAGE_BITS);
			if (page)
				renew_page(page, whose);
			continue;
		}
		renew_cells(at, next < end ? next : end, whose);
	}
}
