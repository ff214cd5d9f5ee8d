/* SPDX-License-Identifier: MIT */
/* shares.c - what the fibers that share a value do together: a hash table, the texts of the values in one piece. */
#include "inspect/query/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 64

struct ins_shares {
	struct ins_field field;
	struct ins_share *share;
	size_t count, room;
	uint32_t *
		slot; /* index + 1 of a share, 0: free; a power of two, more than twice the shares there is room for */
	size_t slots;
	char *texts;
	size_t texts_used, texts_room;
	size_t last; /* the share of the fiber before: of the next one, too, more often than not */
};

int ins_shares_new(struct ins_shares **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? 0 : -ENOMEM;
}

void ins_shares_free(struct ins_shares *shares)
{
	if (!shares)
		return;
	free(shares->share);
	free(shares->slot);
	free(shares->texts);
	free(shares);
}

void ins_shares_begin(struct ins_shares *shares, const struct ins_field *field)
{
	shares->field = *field;
	shares->count = 0;
	shares->texts_used = 0;
	shares->last = 0;
	if (shares->slots)
		memset(shares->slot, 0, shares->slots * sizeof *shares->slot);
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 33;
}

static uint64_t hash_of(const struct ins_shares *s, const struct ins_value *value)
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

static bool equal(const struct ins_shares *s, const struct ins_share *a, uint64_t hash,
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

/* The slot that has it, or the free one where it belongs. */
static uint32_t *find(const struct ins_shares *s, uint64_t hash, const struct ins_value *value)
{
	size_t at = hash & (s->slots - 1);

	while (s->slot[at] && !equal(s, &s->share[s->slot[at] - 1], hash, value))
		at = (at + 1) & (s->slots - 1);
	return &s->slot[at];
}

static int make_room(struct ins_shares *s)
{
	size_t i, at, room = s->room ? 2 * s->room : LEAST;
	struct ins_share *share;
	uint32_t *slot;

	if (s->count < s->room)
		return 0;
	share = realloc(s->share, room * sizeof *share);
	if (!share)
		return -ENOMEM;
	s->share = share;
	slot = calloc(4 * room, sizeof *slot);
	if (!slot)
		return -ENOMEM;
	free(s->slot);
	s->slot = slot;
	s->slots = 4 * room;
	s->room = room;
	for (i = 0; i < s->count; i++) {
		at = share[i].hash & (s->slots - 1);
		while (slot[at])
			at = (at + 1) & (s->slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	return 0;
}

static int keep_text(struct ins_shares *s, const char *text, size_t *ret)
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

/* The share of that value, a new one if need be. NULL without memory. */
static struct ins_share *share_of(struct ins_shares *s, const struct ins_value *value)
{
	const uint64_t hash = hash_of(s, value);
	struct ins_share *share;
	uint32_t *slot;
	size_t text = 0;

	if (s->last < s->count && equal(s, &s->share[s->last], hash, value))
		return &s->share[s->last];
	if (make_room(s) < 0)
		return NULL;
	slot = find(s, hash, value);
	if (!*slot) {
		if (value->known && ins_field_is_text(&s->field) &&
		    keep_text(s, value->text, &text) < 0)
			return NULL;
		share = &s->share[s->count];
		*share = (struct ins_share){.value = *value, .hash = hash, .text = text};
		share->value.text = NULL;
		*slot = (uint32_t)++s->count;
	}
	s->last = *slot - 1;
	return &s->share[s->last];
}

int ins_shares_add(struct ins_shares *shares, struct ins_sight *sight, const struct ins_did *did)
{
	struct ins_value value = ins_field_get(sight, &shares->field);
	const struct fib_row *row = &sight->fiber->row;
	struct ins_share *share = share_of(shares, &value);

	if (!share)
		return -ENOMEM;
	if (!share->count++)
		share->sample = row->id;
	share->cpu += did->cpu;
	share->switches += did->switches;
	if (row->age > share->age_max)
		share->age_max = row->age;
	return 0;
}

static struct ins_value value_at(const struct ins_shares *s, const struct ins_share *share)
{
	struct ins_value value = share->value;

	if (value.known && ins_field_is_text(&s->field))
		value.text = s->texts + share->text;
	return value;
}

static int by_count(const void *a, const void *b, void *context)
{
	const struct ins_share *x = a, *y = b;
	const struct ins_shares *s = context;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return ins_field_compare(&s->field, value_at(s, x), value_at(s, y));
}

size_t ins_shares_end(struct ins_shares *shares)
{
	if (shares->count)
		qsort_r(shares->share, shares->count, sizeof *shares->share, by_count, shares);
	return shares->count;
}

const struct ins_share *ins_shares_at(const struct ins_shares *shares, size_t i)
{
	return &shares->share[i];
}

struct ins_value ins_shares_value(const struct ins_shares *shares, size_t i)
{
	return value_at(shares, &shares->share[i]);
}

void ins_shares_say(const struct ins_shares *shares, size_t i, struct ins_line *line)
{
	ins_field_say(line, &shares->field, value_at(shares, &shares->share[i]));
}
