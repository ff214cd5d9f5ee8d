/* SPDX-License-Identifier: MIT */
/*
 * top_n.c - the first few fibers by what they do now
 *
 * A heap whose root is the last of the kept fibers. A new fiber is kept if it sorts before the
 * root.
 */
#include "inspect/query/top_n.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ins_top_n {
	struct ins_field field;
	bool backwards;
	bool by_cpu, by_switches; /* since the last look */
	size_t most, count;
	uint64_t came;
	struct ins_top_n_row **heap; /* each has its slot all the time, also when not counted */
	struct ins_top_n_row *room;
};

int ins_top_n_new(size_t most, struct ins_top_n **ret)
{
	struct ins_top_n *l = calloc(1, sizeof *l);
	size_t i;

	*ret = l;
	if (!l)
		return -ENOMEM;
	l->most = most;
	l->heap = calloc(most, sizeof(struct ins_top_n_row *));
	l->room = calloc(most, sizeof *l->room);
	if (!l->heap || !l->room) {
		ins_top_n_free(l);
		*ret = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < most; i++)
		l->heap[i] = &l->room[i];
	return 0;
}

void ins_top_n_free(struct ins_top_n *top_n)
{
	if (!top_n)
		return;
	free(top_n->heap);
	free(top_n->room);
	free(top_n);
}

void ins_top_n_begin(struct ins_top_n *top_n, const struct ins_field *field, bool backwards)
{
	top_n->field = *field;
	top_n->backwards = backwards;
	top_n->by_cpu = strcmp(field->info->name, "cpu") == 0;
	top_n->by_switches = strcmp(field->info->name, "switches") == 0;
	top_n->count = 0;
	top_n->came = 0;
}

static struct ins_value value_of(const struct ins_top_n *l, struct ins_sight *sight,
				 const struct ins_fiber_delta *did)
{
	if (l->by_cpu)
		return (struct ins_value){.known = did->known, .number = did->cpu};
	if (l->by_switches)
		return (struct ins_value){.known = did->known, .number = did->switches};
	return ins_field_get(sight, &l->field);
}

/* < 0: a sorts before b. */
static int compare(const struct ins_top_n *l, struct ins_value value,
		   const struct ins_fiber_delta *did, uint64_t came, const struct ins_top_n_row *b)
{
	int c = ins_field_compare(&l->field, value, b->value);

	if (c && l->backwards && value.known && b->value.known)
		c = -c;
	if (c)
		return c;
	if (did->switches != b->did.switches)
		return did->switches > b->did.switches ? -1 : 1;
	return came < b->came ? -1 : came > b->came;
}

static bool before(const struct ins_top_n *l, const struct ins_top_n_row *a,
		   const struct ins_top_n_row *b)
{
	return compare(l, a->value, &a->did, a->came, b) < 0;
}

static void swap(struct ins_top_n *l, size_t a, size_t b)
{
	struct ins_top_n_row *top_n_row = l->heap[a];

	l->heap[a] = l->heap[b];
	l->heap[b] = top_n_row;
}

static void sink(struct ins_top_n *l, size_t at, size_t count)
{
	size_t child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && before(l, l->heap[child], l->heap[child + 1]))
			child++;
		if (!before(l, l->heap[at], l->heap[child]))
			return;
		swap(l, at, child);
		at = child;
	}
}

static void rise(struct ins_top_n *l, size_t at)
{
	while (at && before(l, l->heap[(at - 1) / 2], l->heap[at])) {
		swap(l, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

void ins_top_n_add(struct ins_top_n *top_n, struct ins_sight *sight,
		   const struct ins_fiber_delta *did)
{
	struct ins_value value = value_of(top_n, sight, did);
	const uint64_t came = top_n->came++;
	const bool full = top_n->count == top_n->most;
	struct ins_top_n_row *top_n_row;

	if (full && (!top_n->most || compare(top_n, value, did, came, top_n->heap[0]) > 0))
		return;
	top_n_row = top_n->heap[full ? 0 : top_n->count];
	top_n_row->fiber = *sight->fiber;
	top_n_row->fiber.stack = NULL;
	top_n_row->fiber.stack_size = 0;
	top_n_row->did = *did;
	top_n_row->came = came;
	top_n_row->value = value;
	if (value.known && value.text && ins_field_is_text(&top_n->field)) {
		top_n_row->text[0] = 0;
		strncat(top_n_row->text, value.text, sizeof top_n_row->text - 1);
		top_n_row->value.text = top_n_row->text;
	}
	if (full)
		sink(top_n, 0, top_n->count);
	else
		rise(top_n, top_n->count++);
}

size_t ins_top_n_end(struct ins_top_n *top_n)
{
	size_t left;

	/* Swap the last of the remaining rows to the end. */
	for (left = top_n->count; left > 1; left--) {
		swap(top_n, 0, left - 1);
		sink(top_n, 0, left - 1);
	}
	return top_n->count;
}

const struct ins_top_n_row *ins_top_n_at(const struct ins_top_n *top_n, size_t i)
{
	return top_n->heap[i];
}
