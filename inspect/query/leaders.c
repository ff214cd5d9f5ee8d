/* SPDX-License-Identifier: MIT */
/*
 * leaders.c - the first few fibers by what they do now
 *
 * A heap whose root is the last of those that are kept: whoever comes has to be before it.
 */
#include "inspect/query/leaders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ins_leaders {
	struct ins_field field;
	bool backwards;
	bool by_cpu, by_switches; /* since the last look */
	size_t most, count;
	uint64_t came;
	struct ins_leader **heap; /* each at its place all the time, whether counted or not */
	struct ins_leader *room;
};

int ins_leaders_new(size_t most, struct ins_leaders **ret)
{
	struct ins_leaders *l = calloc(1, sizeof *l);
	size_t i;

	*ret = l;
	if (!l)
		return -ENOMEM;
	l->most = most;
	l->heap = calloc(most, sizeof(struct ins_leader *));
	l->room = calloc(most, sizeof *l->room);
	if (!l->heap || !l->room) {
		ins_leaders_free(l);
		*ret = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < most; i++)
		l->heap[i] = &l->room[i];
	return 0;
}

void ins_leaders_free(struct ins_leaders *leaders)
{
	if (!leaders)
		return;
	free(leaders->heap);
	free(leaders->room);
	free(leaders);
}

void ins_leaders_begin(struct ins_leaders *leaders, const struct ins_field *field, bool backwards)
{
	leaders->field = *field;
	leaders->backwards = backwards;
	leaders->by_cpu = strcmp(field->info->name, "cpu") == 0;
	leaders->by_switches = strcmp(field->info->name, "switches") == 0;
	leaders->count = 0;
	leaders->came = 0;
}

static struct ins_value value_of(const struct ins_leaders *l, struct ins_sight *sight,
				 const struct ins_did *did)
{
	if (l->by_cpu)
		return (struct ins_value){.known = did->known, .number = did->cpu};
	if (l->by_switches)
		return (struct ins_value){.known = did->known, .number = did->switches};
	return ins_field_get(sight, &l->field);
}

/* Less than 0: a stands before b. */
static int compare(const struct ins_leaders *l, struct ins_value value, const struct ins_did *did,
		   uint64_t came, const struct ins_leader *b)
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

static bool before(const struct ins_leaders *l, const struct ins_leader *a,
		   const struct ins_leader *b)
{
	return compare(l, a->value, &a->did, a->came, b) < 0;
}

static void swap(struct ins_leaders *l, size_t a, size_t b)
{
	struct ins_leader *leader = l->heap[a];

	l->heap[a] = l->heap[b];
	l->heap[b] = leader;
}

static void sink(struct ins_leaders *l, size_t at, size_t count)
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

static void rise(struct ins_leaders *l, size_t at)
{
	while (at && before(l, l->heap[(at - 1) / 2], l->heap[at])) {
		swap(l, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

void ins_leaders_add(struct ins_leaders *leaders, struct ins_sight *sight,
		     const struct ins_did *did)
{
	struct ins_value value = value_of(leaders, sight, did);
	const uint64_t came = leaders->came++;
	const bool full = leaders->count == leaders->most;
	struct ins_leader *leader;

	if (full && (!leaders->most || compare(leaders, value, did, came, leaders->heap[0]) > 0))
		return;
	leader = leaders->heap[full ? 0 : leaders->count];
	leader->fiber = *sight->fiber;
	leader->fiber.stack = NULL;
	leader->fiber.stack_size = 0;
	leader->did = *did;
	leader->came = came;
	leader->value = value;
	if (value.known && value.text && ins_field_is_text(&leaders->field)) {
		leader->text[0] = 0;
		strncat(leader->text, value.text, sizeof leader->text - 1);
		leader->value.text = leader->text;
	}
	if (full)
		sink(leaders, 0, leaders->count);
	else
		rise(leaders, leaders->count++);
}

size_t ins_leaders_end(struct ins_leaders *leaders)
{
	size_t left;

	/* The last of those that are left goes to their end. */
	for (left = leaders->count; left > 1; left--) {
		swap(leaders, 0, left - 1);
		sink(leaders, 0, left - 1);
	}
	return leaders->count;
}

const struct ins_leader *ins_leaders_at(const struct ins_leaders *leaders, size_t i)
{
	return leaders->heap[i];
}
