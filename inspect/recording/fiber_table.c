/* SPDX-License-Identifier: MIT */
/* fiber_table.c - the fibers that occur in a recording, in its lists or its events */
#include "inspect/recording/fiber_table.h"

#include <errno.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
	const struct ins_fiber_table_entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

struct ins_fiber_table_entry *ins_fiber_table_find(const struct ins_fiber_table *fiber_table,
						   uint64_t id)
{
	const struct ins_fiber_table_entry wanted = {.id = id};

	return fiber_table->count
		       ? bsearch(&wanted, fiber_table->at, fiber_table->count, sizeof wanted, by_id)
		       : NULL;
}

static void note(struct ins_fiber_table *fiber_table, uint64_t id)
{
	/* Skip an id that equals the previous one, which is the most common case. */
	if (id && (!fiber_table->count || fiber_table->at[fiber_table->count - 1].id != id))
		fiber_table->at[fiber_table->count++] = (struct ins_fiber_table_entry){.id = id};
}

static void make_unique(struct ins_fiber_table *fiber_table)
{
	size_t i, n = 0;

	if (fiber_table->count)
		qsort(fiber_table->at, fiber_table->count, sizeof *fiber_table->at, by_id);
	for (i = 0; i < fiber_table->count; i++)
		if (!n || fiber_table->at[n - 1].id != fiber_table->at[i].id)
			fiber_table->at[n++] = fiber_table->at[i];
	fiber_table->count = n;
}

static void describe(struct ins_fiber_table *fiber_table, const struct ins_recording *r)
{
	struct ins_fiber_table_entry *l;
	size_t i;

	for (i = 0; i < r->lasts; i++) {
		if (!(l = ins_fiber_table_find(fiber_table, r->last[i].id)))
			continue;
		l->entry = r->last[i].entry;
		l->last = &r->last[i];
	}
	for (i = 0; i < r->firsts; i++) {
		if (!(l = ins_fiber_table_find(fiber_table, r->first[i].id)))
			continue;
		l->entry = r->first[i].entry;
		l->first = &r->first[i];
	}
	for (i = 0; i < r->events; i++)
		if (r->event[i].event.type == FIB_EVENT_SPAWN &&
		    (l = ins_fiber_table_find(fiber_table, r->event[i].event.fiber)))
			l->entry = r->event[i].event.object;
}

int ins_fiber_table_make(const struct ins_recording *r, struct ins_fiber_table *ret)
{
	size_t i;

	*ret = (struct ins_fiber_table){
		malloc((r->firsts + r->lasts + r->events + 1) * sizeof *ret->at), 0};
	if (!ret->at)
		return -ENOMEM;
	for (i = 0; i < r->firsts; i++)
		note(ret, r->first[i].id);
	for (i = 0; i < r->lasts; i++)
		note(ret, r->last[i].id);
	for (i = 0; i < r->events; i++)
		note(ret, r->event[i].event.fiber);
	make_unique(ret);
	describe(ret, r);
	return 0;
}

void ins_fiber_table_free(struct ins_fiber_table *fiber_table)
{
	free(fiber_table->at);
	*fiber_table = (struct ins_fiber_table){NULL, 0};
}
