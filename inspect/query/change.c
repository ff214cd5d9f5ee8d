/* SPDX-License-Identifier: MIT */
/*
 * change.c - what each fiber did since the last look
 *
 * Fibers come in the order of their records, in which ids mostly grow, and those that stay come in the same order again. So
 * the look before is kept sorted by id, the next one in it is tried first, and only where that is another fiber is it searched.
 */
#include "inspect/query/change.h"

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

struct ins_change {
	struct look before, now;
	bool lives;    /* there is one look only */
	bool compares; /* there was a look before this one, with fibers in it */
	size_t next;   /* in before: the one to try first */
	uint64_t fresh;
	uint64_t oldest; /* of this look: ns since it was spawned, as far as any is known */
};

int ins_change_new(struct ins_change **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? 0 : -ENOMEM;
}

void ins_change_free(struct ins_change *change)
{
	if (!change)
		return;
	free(change->before.seen);
	free(change->now.seen);
	free(change);
}

void ins_change_of_lives(struct ins_change *change)
{
	change->lives = true;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct seen *)a)->id, y = ((const struct seen *)b)->id;

	return x < y ? -1 : x > y;
}

void ins_change_begin(struct ins_change *change)
{
	struct look old = change->before;

	change->before = change->now;
	change->now = old;
	change->now.count = 0;
	change->now.sorted = true;
	change->compares = change->before.count > 0 && !change->lives;
	change->oldest = 0;
	change->next = 0;
	change->fresh = 0;
	if (change->compares && !change->before.sorted)
		qsort(change->before.seen, change->before.count, sizeof(struct seen), by_id);
}

static const struct seen *find(struct ins_change *change, uint64_t id)
{
	const struct look *before = &change->before;
	size_t low = 0, high = before->count;

	if (change->next < high && before->seen[change->next].id == id)
		return &before->seen[change->next++];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (before->seen[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == before->count || before->seen[low].id != id)
		return NULL;
	change->next = low + 1;
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

/* Counts of a record that was read while it changed, or is broken, may go back. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

int ins_change_add(struct ins_change *change, const struct ins_fiber *fiber, struct ins_did *ret)
{
	const struct fib_row *row = &fiber->row;
	const struct seen *seen = NULL;

	*ret = (struct ins_did){.known = change->compares};
	if (change->lives) {
		*ret = (struct ins_did){true, false, row->cpu, row->switches};
		if (row->lived != FIB_ROW_UNKNOWN && row->lived > change->oldest)
			change->oldest = row->lived;
	}
	if (change->compares) {
		seen = find(change, row->id);
		ret->fresh = !seen;
		ret->cpu = since(row->cpu, seen ? seen->cpu : 0);
		ret->switches = since(row->switches, seen ? seen->switches : 0);
		change->fresh += !seen;
	}
	change->now.now = fiber->now;
	return keep(&change->now, row);
}

int64_t ins_change_ns(const struct ins_change *change)
{
	int64_t ns;

	if (change->lives)
		return change->oldest < INT64_MAX ? (int64_t)change->oldest : 0;
	if (!change->compares || !change->now.count ||
	    __builtin_sub_overflow(change->now.now, change->before.now, &ns))
		return 0;
	return ns > 0 ? ns : 0;
}

uint64_t ins_change_fresh(const struct ins_change *change)
{
	return change->fresh;
}

uint64_t ins_change_gone(const struct ins_change *change)
{
	uint64_t stayed = change->now.count - change->fresh;

	return change->compares && change->before.count > stayed ? change->before.count - stayed
								 : 0;
}
