/* SPDX-License-Identifier: MIT */
/*
 * lost_look.c - one look at the memory of a source: what is alive, and which fibers are not
 *
 * Alive are:
 *
 *	the writable data of all modules, and all other writable memory of files
 *	memory that is shared with other processes
 *	the stacks of plain threads, from the stack pointer up, and their registers
 *	what the kernel keeps for the program: the data of epoll
 *	the stack and the record of each fiber whose wait may end without another fiber
 *
 * Private memory without a file is followed from there: heaps, large blocks, memory of other
 * allocators, the stacks of exited threads. A fiber's stack, and the records, are in such memory too,
 * but the marking knows them (mark.c). The used part of a thread's stack is a root; the part below
 * the stack pointer is followed only if something points to it.
 *
 * Memory that is listed and cannot be read may have had a pointer: it is counted, and the result is not
 * certain. Pages that were never written are skipped, in shared memory too.
 */
#include "inspect/leaks/lost_look.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/process/regions.h"
#include "inspect/source/records.h"
#include "inspect/waits/stillness.h"

/* A port may save registers below the stack pointer. */
#define BELOW 512u
/* More blocks of the table of stacks than a valid program has. */
#define BLOCKS 65536
/* Bytes that are skipped at most: looking up a page costs a few nanoseconds. */
#define SPARSE (UINT64_C(1) << 40)

/* -- memory -- */

static int read_memory(void *reader, uint64_t address, void *buf, size_t size)
{
	struct ins_lost_look *look = reader;

	return look->source->memory(look->source, address, buf, size);
}

/* Shared memory that only other processes have written is no place for a pointer of this one. */
static uint64_t run(void *reader, uint64_t address, uint64_t size, bool *ret_there)
{
	struct ins_lost_look *look = reader;
	struct ins_source *source = look->source;
	uint64_t got;

	*ret_there = true;
	if (!source->run)
		return size;
	if (look->skipped > SPARSE)
		return 0;
	source->sparse = true;
	got = source->run(source, address, size, ret_there);
	source->sparse = false;
	look->skipped += *ret_there ? 0 : got;
	return got;
}

static bool is_in(const struct ins_region *slab, uint64_t low, uint64_t end)
{
	return low >= slab->start && end <= slab->end;
}

/* Fibers that follow each other mostly have their stacks in one slab, and there may be thousands of slabs. */
static bool is_in_slab(struct ins_lost_look *look, uint64_t low, uint64_t end)
{
	size_t i;

	if (look->slab < look->slabs.count && is_in(&look->slabs.at[look->slab], low, end))
		return true;
	for (i = 0; i < look->slabs.count; i++) {
		if (is_in(&look->slabs.at[i], low, end)) {
			look->slab = i;
			return true;
		}
	}
	return false;
}

/*
 * Windows reach beyond the areas: only a page of an area counts. The guards between stacks cannot be
 * read, and the kernel may list them as part of the area. A stack that went away is noticed by its fiber.
 */
static void on_failure(void *reader, uint64_t address)
{
	struct ins_lost_look *look = reader;

	if (!ins_lost_look_region(look, address) || is_in_slab(look, address, address + 1))
		return;
	ins_lost_look_failed(look, address);
}

/* Where the first region above address begins. */
static uint64_t next_start(const struct ins_lost_look *look, uint64_t address)
{
	size_t i;

	for (i = 0; i < look->regions.count && look->regions.at[i].start <= address; i++)
		;
	return i < look->regions.count ? look->regions.at[i].start : UINT64_MAX;
}

static int add_areas(struct ins_lost_look *look)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < look->regions.count; i++) {
		const struct ins_region *r = &look->regions.at[i];

		if (r->shared || (r->file && r->writable))
			rc = ins_mark_root(look->mark, r->start, r->end);
		else if (!r->file)
			rc = ins_mark_area(look->mark, r->start, r->end, r->heap);
	}
	return rc;
}

/* Headers in memory may say anything: only what is mapped counts. */
static int add_data(struct ins_lost_look *look, uint64_t low, uint64_t high)
{
	int rc = 0;

	while (rc == 0 && low < high) {
		const struct ins_region *r = ins_lost_look_region(look, low);

		if (!r)
			break;
		rc = ins_mark_root(look->mark, low, high < r->end ? high : r->end);
		low = r->end;
	}
	return rc;
}

/* The zero-initialised data of a module is memory without a file. */
static int add_modules(struct ins_lost_look *look)
{
	const struct ins_modules *modules = look->source->modules;
	size_t i;
	unsigned k;
	int rc = 0;

	for (i = 0; i < modules->count; i++) {
		struct ins_image image;

		if (ins_image_read(&image, modules->read, modules->reader, modules->at[i].start,
				   true))
			continue;
		for (k = 0; rc == 0 && k < image.segments; k++) {
			const Elf64_Phdr *ph = &image.segment[k];
			const uint64_t low = image.bias + ph->p_vaddr;

			if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W))
				rc = add_data(look, low, low + ph->p_memsz);
		}
	}
	return rc;
}

static int add_slab(struct ins_lost_look *look, uint64_t low, uint64_t high)
{
	const size_t n = look->slabs.count;
	struct ins_region *more;

	if (!(n & (n - 1))) {
		more = realloc(look->slabs.at, (n ? n * 2 : 1) * sizeof *more);
		if (!more)
			return -ENOMEM;
		look->slabs.at = more;
	}
	look->slabs.at[look->slabs.count++] = (struct ins_region){.start = low, .end = high};
	return ins_mark_dead(look->mark, low, high);
}

/* The memory that stacks are cut from, as the program publishes it. */
static int add_stacks(struct ins_lost_look *look)
{
	struct ins_source *source = look->source;
	uint64_t at = source->layout.stacks;
	struct fib_layout_stacks block;
	unsigned i, blocks;
	int rc = 0;

	for (blocks = 0; rc == 0 && at && blocks < BLOCKS; blocks++) {
		if (source->memory(source, at, &block, sizeof block) < 0)
			break;
		for (i = 0; rc == 0 && i < block.count && i < FIB_LAYOUT_STACKS; i++)
			rc = add_slab(look, block.at[i].low, block.at[i].high);
		at = block.next;
	}
	return rc;
}

static int add_word(void *context, uint64_t word)
{
	return ins_mark_word(context, word);
}

/* -- fibers -- */

/*
 * fiber_park() waits for no object. A fiber may be meant to park for ever, and who has its handle could
 * be anybody, so it is not called lost.
 */
static bool is_alive(const struct fib_row *row)
{
	if (!ins_stillness_needs_waker(row) || fib_row_astray(row))
		return true;
	return row->wait_kind == FIB_WAIT_PARK ||
	       (row->cancelled && !(row->flags & FIB_ROW_MASKED));
}

/* The record of the fiber that a row joins; 0: it has exited. */
static uint64_t joined(struct ins_table *table, const struct fib_row *row)
{
	const ssize_t i = ins_table_find(table, row->wait_arg);
	struct ins_fiber fiber;

	if (i < 0)
		return 0;
	ins_table_get(table, (size_t)i, &fiber);
	return fiber.row.record;
}

/*
 * Whether [low, end) may be a stack: a record may say anything. The program may have split the area of
 * the stack, with mlock() or mprotect().
 */
static bool is_stack(struct ins_lost_look *look, uint64_t low, uint64_t end)
{
	const struct ins_region *r = ins_lost_look_region(look, low);

	if (is_in_slab(look, low, end))
		return true;
	for (; r && end > r->end && !r->file && !r->shared; r = ins_lost_look_region(look, r->end))
		;
	return r && end <= r->end;
}

static void describe(struct ins_lost_look *look, const struct fib_row *row,
		     struct ins_mark_fiber *ret)
{
	uint64_t end = row->stack_low + row->stack_size;

	if (end < row->stack_low || !is_stack(look, row->stack_low, end))
		end = row->stack_low;
	*ret = (struct ins_mark_fiber){
		.stack_low = row->stack_low,
		.stack_end = end,
		.stack_used = row->stack_low,
		.record = row->record,
		.object = row->wait_object,
		.alive = is_alive(row) || end == row->stack_low,
	};
	if (row->state == FIBER_SUSPENDED && !fib_row_astray(row) &&
	    row->sp > row->stack_low + BELOW && row->sp < end)
		ret->stack_used = (row->sp - BELOW) & ~UINT64_C(7);
	if (row->wait_kind == FIB_WAIT_JOIN)
		ret->object = joined(look->table, row);
}

static int add_fibers(struct ins_lost_look *look)
{
	const struct fib_layout *layout = &look->source->layout;
	uint64_t argument = 0;
	struct ins_fiber fiber;
	size_t i;
	int rc;

	/* libfiber has a fiber's argument behind its function; only libfiber has `reads`. */
	if (fib_layout_has(layout, FIB_FIELD_READS, sizeof(uint64_t)))
		argument = layout->fields[FIB_FIELD_ENTRY].offset + sizeof(uint64_t);
	rc = ins_mark_records(look->mark, layout->records, layout->record_size, layout->committed,
			      argument);
	for (i = 0; rc == 0 && i < ins_table_count(look->table); i++) {
		struct ins_mark_fiber one;

		ins_table_get(look->table, i, &fiber);
		describe(look, &fiber.row, &one);
		if (fib_row_walkable(&fiber.row))
			ins_lost_look_stack(look, fiber.row.sp);
		rc = ins_mark_fiber(look->mark, &one);
	}
	return rc;
}

static int new_windows(struct ins_lost_look *look)
{
	look->reader = (struct ins_memory_reader){look, read_memory, run, on_failure};
	return ins_windows_new(&look->reader, 0, &look->windows);
}

int ins_lost_look(struct ins_lost_look *look)
{
	struct ins_source *source = look->source;
	int rc;

	look->unknown = look->unread = look->missing = look->failures = 0;
	look->skipped = 0;
	rc = source->ops->regions(source, &look->regions);
	if (look->windows)
		ins_windows_forget(look->windows);
	else if (rc == 0)
		rc = new_windows(look);
	if (rc == 0)
		rc = ins_mark_new(look->windows, &look->mark);
	/* First: where stacks are, pages may be unreadable. */
	if (rc == 0)
		rc = add_stacks(look);
	if (rc == 0)
		rc = add_areas(look);
	if (rc == 0)
		rc = add_modules(look);
	if (rc == 0)
		rc = ins_lost_threads(look);
	if (rc == 0 && look->live)
		rc = ins_kernel_words(source->pid, add_word, look->mark);
	if (rc == 0)
		rc = add_fibers(look);
	return rc < 0 ? rc : ins_mark_all(look->mark);
}

/* Whether the fiber is new or has moved since the look began; it is noted in look->moved. */
static bool has_moved(const struct ins_lost_look *look, const struct fib_row *row)
{
	const ssize_t i = ins_table_find(look->table, row->id);
	struct ins_fiber before;

	if (i < 0)
		return true;
	ins_table_get(look->table, (size_t)i, &before);
	look->moved[i] = before.row.seq != row->seq;
	return look->moved[i];
}

static int each_record(void *context, uint64_t address, const void *bytes)
{
	struct ins_lost_look *look = context;
	struct ins_mark_fiber one;
	struct fib_row row;
	int rc;

	if (!fib_row_decode(&look->source->layout, bytes, address, 0, &row) ||
	    !has_moved(look, &row))
		return 0;
	describe(look, &row, &one);
	rc = ins_mark_more_record(look->mark, one.record, bytes);
	if (rc == 0)
		rc = ins_mark_more(look->mark, one.stack_used, one.stack_end);
	if (rc == 0)
		rc = ins_mark_more(look->mark, one.record,
				   one.record + look->source->layout.record_size);
	return rc < 0 ? rc : ins_mark_more_word(look->mark, one.object);
}

/* Memory that was mapped since the look began is alive. */
static int mark_new_areas(struct ins_lost_look *look)
{
	struct ins_regions now = {NULL, 0};
	int rc = look->source->ops->regions(look->source, &now);
	size_t i;

	for (i = 0; rc == 0 && i < now.count; i++) {
		uint64_t at = now.at[i].start, next;

		for (; rc == 0 && at < now.at[i].end; at = next) {
			const struct ins_region *r = ins_lost_look_region(look, at);

			next = r ? r->end : next_start(look, at);
			next = next < now.at[i].end ? next : now.at[i].end;
			if (!r && !(now.at[i].file && !now.at[i].writable))
				rc = ins_mark_more(look->mark, at, next);
		}
	}
	free(now.at);
	return rc;
}

int ins_lost_look_check(struct ins_lost_look *look)
{
	const size_t most = sizeof look->failed / sizeof look->failed[0];
	size_t i;
	int rc;

	free(look->regions.at);
	look->regions = (struct ins_regions){NULL, 0};
	rc = look->source->ops->regions(look->source, &look->regions);
	look->unread = look->failures > most ? look->failures - most : 0;
	for (i = 0; rc == 0 && i < look->failures && i < most; i++)
		look->unread += ins_lost_look_region(look, look->failed[i]) != NULL;
	return rc;
}

int ins_lost_look_again(struct ins_lost_look *look)
{
	struct ins_error error;
	size_t i;
	int rc;

	ins_mark_again(look->mark);
	rc = mark_new_areas(look);
	if (rc < 0)
		return rc;
	/* A fiber that has exited is not met again. */
	for (i = 0; i < ins_table_count(look->table); i++)
		look->moved[i] = true;
	return ins_records_each(look->source, each_record, look, &error);
}

void ins_lost_look_end(struct ins_lost_look *look)
{
	ins_mark_free(look->mark);
	free(look->regions.at);
	free(look->slabs.at);
	look->slabs = (struct ins_regions){NULL, 0};
	look->mark = NULL;
	look->regions = (struct ins_regions){NULL, 0};
}

void ins_lost_look_drop(struct ins_lost_look *look)
{
	ins_lost_look_end(look);
	ins_unwinder_free(look->unwinder);
	ins_windows_free(look->windows);
	look->unwinder = NULL;
	look->windows = NULL;
}
