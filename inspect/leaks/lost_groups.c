/* SPDX-License-Identifier: MIT */
/* lost_groups.c - lost fibers by the place that spawned them and what they wait for */
#include "inspect/leaks/lost_groups.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE 4096u

/* What a fiber is sorted by. */
struct key {
	uint64_t spawn_pc, entry;
	uint8_t wait_kind;
	size_t lost; /* index in lost->at */
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->spawn_pc != y->spawn_pc)
		return x->spawn_pc < y->spawn_pc ? -1 : 1;
	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	if (x->wait_kind != y->wait_kind)
		return x->wait_kind < y->wait_kind ? -1 : 1;
	return x->lost < y->lost ? -1 : x->lost > y->lost;
}

static int largest_first(const void *a, const void *b)
{
	const struct ins_lost_group *x = a, *y = b;

	if (x->fibers != y->fibers)
		return x->fibers > y->fibers ? -1 : 1;
	return x->ids.id[0] < y->ids.id[0] ? -1 : x->ids.id[0] > y->ids.id[0];
}

static void add(struct ins_lost_group *g, const struct fib_row *row, size_t index)
{
	if (!g->fibers)
		g->object = row->wait_object;
	else if (g->object != row->wait_object)
		g->object = 0;
	if (!g->fibers || row->age > g->longest) {
		g->longest = row->age;
		g->example = index;
	}
	g->fibers++;
	g->stacks += (row->stack_used + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	ins_sample_lowest(&g->ids, row->id);
}

static struct key *sort(const struct ins_lost *lost)
{
	struct key *keys = calloc(lost->count + 1, sizeof *keys);
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; keys && i < lost->count; i++) {
		ins_table_get(lost->table, lost->at[i], &fiber);
		keys[i] = (struct key){fiber.row.spawn_pc, fiber.row.entry, fiber.row.wait_kind, i};
	}
	if (keys && lost->count)
		qsort(keys, lost->count, sizeof *keys, by_key);
	return keys;
}

int ins_lost_groups(const struct ins_lost *lost, struct ins_lost_groups *ret)
{
	struct key *keys = sort(lost);
	struct ins_lost_group *g = NULL;
	struct ins_fiber fiber;
	size_t i;

	ret->count = 0;
	ret->at = calloc(lost->count + 1, sizeof *ret->at);
	if (!keys || !ret->at) {
		free(keys);
		return -ENOMEM;
	}
	for (i = 0; i < lost->count; i++) {
		const struct key *k = &keys[i];

		if (!g || g->spawn_pc != k->spawn_pc || g->entry != k->entry ||
		    g->wait_kind != k->wait_kind) {
			g = &ret->at[ret->count++];
			g->spawn_pc = k->spawn_pc;
			g->entry = k->entry;
			g->wait_kind = k->wait_kind;
		}
		ins_table_get(lost->table, lost->at[k->lost], &fiber);
		add(g, &fiber.row, lost->at[k->lost]);
	}
	free(keys);
	if (ret->count)
		qsort(ret->at, ret->count, sizeof *ret->at, largest_first);
	return 0;
}

void ins_lost_groups_example(const struct ins_lost *lost, const struct ins_lost_group *group,
			     struct ins_source *source, struct ins_fiber *ret)
{
	ins_table_get(lost->table, group->example, ret);
	if (source->memory && fib_row_has_object(&ret->row))
		fib_row_resolve(&source->layout, &ret->row, source->memory, source);
}
