/* SPDX-License-Identifier: MIT */
/*
 * delta.c - what each fiber did since the last look
 *
 * Fibers come in the order of their records. Ids mostly grow in that order, and fibers that remain
 * keep it. So the previous look is kept sorted by id and its next entry is tried first; a binary
 * search is done only if that is another fiber.
 */
#include "inspect/query/delta.h"

#include <errno.h>
#include <stdlib.h>

struct seen {
	uint64_t id, cpu, switches;
};

struct look {
	struct seen *seen;
	size_t count, room;
	bool sorted;
	int64_t now; /* the program's clock */
};

struct ins_delta {
	struct look before, now;
	bool since_spawn; /* counts are since spawn */
	bool compares;	  /* there was a previous look, with fibers in it */
	size_t next;	  /* in before: the entry to try first */
	uint64_t fresh;
	uint64_t oldest; /* of this look: longest known time since a spawn, ns */
};

int ins_delta_new(struct ins_delta **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? 0 : -ENOMEM;
}

void ins_delta_free(struct ins_delta *delta)
{
	if (!delta)
		return;
	free(delta->before.seen);
	free(delta->now.seen);
	free(delta);
}

void ins_delta_since_spawn(struct ins_delta *delta)
{
	delta->since_spawn = true;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct seen *)a)->id, y = ((const struct seen *)b)->id;

	return x < y ? -1 : x > y;
}

void ins_delta_begin(struct ins_delta *delta)
{
	struct look old = delta->before;

	delta->before = delta->now;
	delta->now = old;
	delta->now.count = 0;
	delta->now.sorted = true;
	delta->compares = delta->before.count > 0 && !delta->since_spawn;
	delta->oldest = 0;
	delta->next = 0;
	delta->fresh = 0;
	if (delta->compares && !delta->before.sorted)
		qsort(delta->before.seen, delta->before.count, sizeof(struct seen), by_id);
}

static const struct seen *find(struct ins_delta *delta, uint64_t id)
{
	const struct look *before = &delta->before;
	size_t low = 0, high = before->count;

	if (delta->next < high && before->seen[delta->next].id == id)
		return &before->seen[delta->next++];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (before->seen[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == before->count || before->seen[low].id != id)
		return NULL;
	delta->next = low + 1;
	return &before->seen[low];
}

static int keep(struct look *look, const struct fib_row *row)
{
	size_t room = look->room ? 2 * look->room : 1024;
	struct seen *seen;

	if (look->count == look->room) {
		seen = realloc(look->seen, room * sizeof *seen);
		if (!seen)
			return -ENOMEM;
		look->seen = seen;
		look->room = room;
	}
	if (look->count && look->seen[look->count - 1].id > row->id)
		look->sorted = false;
	look->seen[look->count++] = (struct seen){row->id, row->cpu, row->switches};
	return 0;
}

/* Counts may decrease if a record is broken or was read while it changed. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

int ins_delta_add(struct ins_delta *delta, const struct ins_fiber *fiber,
		  struct ins_fiber_delta *ret)
{
	const struct fib_row *row = &fiber->row;
	const struct seen *seen = NULL;

	*ret = (struct ins_fiber_delta){.known = delta->compares};
	if (delta->since_spawn) {
		*ret = (struct ins_fiber_delta){true, false, row->cpu, row->switches};
		if (row->lived != FIB_ROW_UNKNOWN && row->lived > delta->oldest)
			delta->oldest = row->lived;
	}
	if (delta->compares) {
		seen = find(delta, row->id);
		ret->fresh = !seen;
		ret->cpu = since(row->cpu, seen ? seen->cpu : 0);
		ret->switches = since(row->switches, seen ? seen->switches : 0);
		delta->fresh += !seen;
	}
	delta->now.now = fiber->now;
	return keep(&delta->now, row);
}

int64_t ins_delta_ns(const struct ins_delta *delta)
{
	int64_t ns;

	if (delta->since_spawn)
		return delta->oldest < INT64_MAX ? (int64_t)delta->oldest : 0;
	if (!delta->compares || !delta->now.count ||
	    __builtin_sub_overflow(delta->now.now, delta->before.now, &ns))
		return 0;
	return ns > 0 ? ns : 0;
}

uint64_t ins_delta_fresh(const struct ins_delta *delta)
{
	return delta->fresh;
}

uint64_t ins_delta_gone(const struct ins_delta *delta)
{
	uint64_t stayed = delta->now.count - delta->fresh;

	return delta->compares && delta->before.count > stayed ? delta->before.count - stayed : 0;
}
