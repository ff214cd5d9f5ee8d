/* SPDX-License-Identifier: MIT */
/* group_totals.c - totals of the fibers that share a value of a field, in a hash table */
#include "inspect/query/group_totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 64

struct ins_group_totals {
	struct ins_field field;
	struct ins_group_total *group_total;
	size_t count, room;
	uint32_t *
		slot; /* index + 1 of a total; 0: free; a power of 2, more than double the totals */
	size_t slots;
	char *texts;
	size_t texts_used, texts_room;
	size_t last; /* the total of the last fiber: mostly that of the next one too */
};

int ins_group_totals_new(struct ins_group_totals **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? 0 : -ENOMEM;
}

void ins_group_totals_free(struct ins_group_totals *group_totals)
{
	if (!group_totals)
		return;
	free(group_totals->group_total);
	free(group_totals->slot);
	free(group_totals->texts);
	free(group_totals);
}

void ins_group_totals_begin(struct ins_group_totals *group_totals, const struct ins_field *field)
{
	group_totals->field = *field;
	group_totals->count = 0;
	group_totals->texts_used = 0;
	group_totals->last = 0;
	if (group_totals->slots)
		memset(group_totals->slot, 0, group_totals->slots * sizeof *group_totals->slot);
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 33;
}

static uint64_t hash_of(const struct ins_group_totals *s, const struct ins_value *value)
{
	uint64_t h = UINT64_C(14695981039346656037);
	const char *c;

	if (!value->known)
		return 0;
	if (!ins_field_is_text(&s->field))
		return mix(value->number) ^ value->of;
	for (c = value->text; *c; c++)
		h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
	return mix(h);
}

static bool equal(const struct ins_group_totals *s, const struct ins_group_total *a, uint64_t hash,
		  const struct ins_value *value)
{
	if (a->hash != hash || a->value.known != value->known)
		return false;
	if (!value->known)
		return true;
	if (ins_field_is_text(&s->field))
		return strcmp(s->texts + a->text, value->text) == 0;
	return a->value.number == value->number && a->value.of == value->of;
}

/* The slot of a value, or the free slot where it belongs. */
static uint32_t *find(const struct ins_group_totals *s, uint64_t hash,
		      const struct ins_value *value)
{
	size_t at = hash & (s->slots - 1);

	while (s->slot[at] && !equal(s, &s->group_total[s->slot[at] - 1], hash, value))
		at = (at + 1) & (s->slots - 1);
	return &s->slot[at];
}

static int make_room(struct ins_group_totals *s)
{
	size_t i, at, room = s->room ? 2 * s->room : LEAST;
	struct ins_group_total *group_total;
	uint32_t *slot;

	if (s->count < s->room)
		return 0;
	group_total = realloc(s->group_total, room * sizeof *group_total);
	if (!group_total)
		return -ENOMEM;
	s->group_total = group_total;
	slot = calloc(4 * room, sizeof *slot);
	if (!slot)
		return -ENOMEM;
	free(s->slot);
	s->slot = slot;
	s->slots = 4 * room;
	s->room = room;
	for (i = 0; i < s->count; i++) {
		at = group_total[i].hash & (s->slots - 1);
		while (slot[at])
			at = (at + 1) & (s->slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	return 0;
}

static int keep_text(struct ins_group_totals *s, const char *text, size_t *ret)
{
	size_t n = strlen(text) + 1, room = s->texts_room ? s->texts_room : 4096;
	char *texts;

	while (room < s->texts_used + n)
		room *= 2;
	if (room > s->texts_room) {
		texts = realloc(s->texts, room);
		if (!texts)
			return -ENOMEM;
		s->texts = texts;
		s->texts_room = room;
	}
	memcpy(s->texts + s->texts_used, text, n);
	*ret = s->texts_used;
	s->texts_used += n;
	return 0;
}

/* The total of that value, a new one if needed. NULL: no memory. */
static struct ins_group_total *group_total_of(struct ins_group_totals *s,
					      const struct ins_value *value)
{
	const uint64_t hash = hash_of(s, value);
	struct ins_group_total *group_total;
	uint32_t *slot;
	size_t text = 0;

	if (s->last < s->count && equal(s, &s->group_total[s->last], hash, value))
		return &s->group_total[s->last];
	if (make_room(s) < 0)
		return NULL;
	slot = find(s, hash, value);
	if (!*slot) {
		if (value->known && ins_field_is_text(&s->field) &&
		    keep_text(s, value->text, &text) < 0)
			return NULL;
		group_total = &s->group_total[s->count];
		*group_total =
			(struct ins_group_total){.value = *value, .hash = hash, .text = text};
		group_total->value.text = NULL;
		*slot = (uint32_t)++s->count;
	}
	s->last = *slot - 1;
	return &s->group_total[s->last];
}

int ins_group_totals_add(struct ins_group_totals *group_totals, struct ins_sight *sight,
			 const struct ins_fiber_delta *did)
{
	struct ins_value value = ins_field_get(sight, &group_totals->field);
	const struct fib_row *row = &sight->fiber->row;
	struct ins_group_total *group_total = group_total_of(group_totals, &value);

	if (!group_total)
		return -ENOMEM;
	if (!group_total->count++)
		group_total->sample = row->id;
	group_total->cpu += did->cpu;
	group_total->switches += did->switches;
	if (row->age > group_total->age_max)
		group_total->age_max = row->age;
	return 0;
}

static struct ins_value value_at(const struct ins_group_totals *s,
				 const struct ins_group_total *group_total)
{
	struct ins_value value = group_total->value;

	if (value.known && ins_field_is_text(&s->field))
		value.text = s->texts + group_total->text;
	return value;
}

static int by_count(const void *a, const void *b, void *context)
{
	const struct ins_group_total *x = a, *y = b;
	const struct ins_group_totals *s = context;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return ins_field_compare(&s->field, value_at(s, x), value_at(s, y));
}

size_t ins_group_totals_end(struct ins_group_totals *group_totals)
{
	if (group_totals->count)
		qsort_r(group_totals->group_total, group_totals->count,
			sizeof *group_totals->group_total, by_count, group_totals);
	return group_totals->count;
}

const struct ins_group_total *ins_group_totals_at(const struct ins_group_totals *group_totals,
						  size_t i)
{
	return &group_totals->group_total[i];
}

struct ins_value ins_group_totals_value(const struct ins_group_totals *group_totals, size_t i)
{
	return value_at(group_totals, &group_totals->group_total[i]);
}

void ins_group_totals_say(const struct ins_group_totals *group_totals, size_t i,
			  struct ins_strbuf *line)
{
	ins_field_say(line, &group_totals->field,
		      value_at(group_totals, &group_totals->group_total[i]));
}
