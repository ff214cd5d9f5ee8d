/* SPDX-License-Identifier: MIT */
/*
 * core_late.c - pages that have no place in a core yet
 *
 * A program that spawns fibers maps new stacks while the memory of the others is copied. Their
 * pages go behind all others in the file, in the order in which they are found. The pages of a
 * stack follow each other and form one run.
 */
#include "inspect/corefile/core_late.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE UINT64_C(4096)

static struct ins_core_late_run *find(const struct ins_core_late *late, uint64_t address)
{
	size_t i;

	/* The next write mostly belongs to the most recent run. */
	for (i = late->count; i-- > 0;)
		if (address >= late->run[i].start && address < late->run[i].end)
			return &late->run[i];
	return NULL;
}

/* Append a page: extend the last run if the page continues it, else add a run. */
static struct ins_core_late_run *add(struct ins_core_late *late, uint64_t page, uint64_t end)
{
	struct ins_core_late_run *last = late->count ? &late->run[late->count - 1] : NULL;

	if (last && last->end == page && last->offset + (last->end - last->start) == end) {
		last->end += PAGE;
		return last;
	}
	last = &late->run[late->count++];
	*last = (struct ins_core_late_run){page, page + PAGE, end};
	return last;
}

int ins_core_late_place(struct ins_core_late *late, uint64_t address, uint64_t *end,
			uint64_t *ret_offset)
{
	struct ins_core_late_run *run = find(late, address);

	if (!run && !late->run)
		late->run = calloc(INS_CORE_LATE_MOST, sizeof *late->run);
	if (!late->run)
		return -ENOMEM;
	if (!run && late->count == INS_CORE_LATE_MOST)
		return -EMFILE;
	if (!run) {
		run = add(late, address & ~(PAGE - 1), *end);
		*end += PAGE;
	}
	*ret_offset = run->offset + (address - run->start);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct ins_core_late_run *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void ins_core_late_sort(struct ins_core_late *late)
{
	if (late->count)
		qsort(late->run, late->count, sizeof *late->run, by_start);
}

void ins_core_late_free(struct ins_core_late *late)
{
	free(late->run);
	*late = (struct ins_core_late){0};
}
