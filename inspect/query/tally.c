/* SPDX-License-Identifier: MIT */
/* tally.c - count fibers by the value of a field */
#include "inspect/query/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/texts.h"

struct ins_tally {
	struct ins_field field;
	struct ins_texts *values;
	struct ins_count **at; /* before the sort: by the number of their value */
	size_t count, room;
	struct ins_count *nothing; /* fibers without a value, or NULL; after the sort it is in at */
};

int ins_tally_new(const struct ins_field *field, struct ins_tally **ret)
{
	*ret = calloc(1, sizeof **ret);
	if (!*ret)
		return -ENOMEM;
	(*ret)->field = *field;
	if (ins_texts_new(&(*ret)->values) == 0)
		return 0;
	ins_tally_free(*ret);
	*ret = NULL;
	return -ENOMEM;
}

static void drop(struct ins_count *c)
{
	if (!c)
		return;
	ins_distribution_drop(&c->ages);
	free(c->value);
	free(c);
}

void ins_tally_free(struct ins_tally *tally)
{
	size_t i;

	if (!tally)
		return;
	for (i = 0; i < tally->count; i++)
		drop(tally->at[i]);
	drop(tally->nothing);
	free(tally->at);
	ins_texts_free(tally->values);
	free(tally);
}

static struct ins_count *new_count(const struct ins_tally *tally, struct ins_value value,
				   const struct ins_text_kept *kept)
{
	struct ins_count *c = calloc(1, sizeof *c);
	char said[512];
	struct ins_strbuf l = ins_strbuf(said, sizeof said);

	if (!c)
		return NULL;
	ins_field_say(&l, &tally->field, value);
	c->value = strdup(said);
	c->known = value.known;
	if (kept && ins_field_is_text(&tally->field))
		c->text = kept->text;
	if (c->value)
		return c;
	drop(c);
	return NULL;
}

/* Make room for one more value and for the fibers without one. */
static int make_room(struct ins_tally *tally)
{
	size_t room = tally->room ? 2 * tally->room : 32;
	struct ins_count **at;

	if (tally->count + 1 < tally->room)
		return 0;
	at = realloc(tally->at, room * sizeof(struct ins_count *));
	if (!at)
		return -ENOMEM;
	tally->at = at;
	tally->room = room;
	return 0;
}

/* The count of that value, a new one if needed. NULL: no memory. */
static struct ins_count *count_of(struct ins_tally *tally, struct ins_value value)
{
	char buf[INS_FIELD_WORDS];
	const char *words = ins_field_words(&tally->field, value, buf);
	const struct ins_text_kept *kept;
	struct ins_count *c;

	if (!words) {
		if (!tally->nothing && make_room(tally) == 0)
			tally->nothing = new_count(tally, value, NULL);
		return tally->nothing;
	}
	kept = ins_texts_add(tally->values, words, 1);
	if (!kept)
		return NULL;
	if (kept->number < tally->count)
		return tally->at[kept->number];
	c = make_room(tally) < 0 ? NULL : new_count(tally, value, kept);
	if (c)
		tally->at[tally->count++] = c;
	return c;
}

int ins_tally_add(struct ins_tally *tally, struct ins_sight *sight)
{
	struct ins_count *c = count_of(tally, ins_field_get(sight, &tally->field));
	const struct fib_row *row = &sight->fiber->row;

	if (!c)
		return -ENOMEM;
	c->count++;
	c->threads = sight->fiber->flags & INS_FIBER_THREAD;
	if (row->cpu != FIB_ROW_UNKNOWN)
		c->cpu += row->cpu;
	ins_sample_lowest(&c->ids, row->id);
	return ins_distribution_add(&c->ages, row->age);
}

static int by_count(const void *a, const void *b)
{
	const struct ins_count *x = *(struct ins_count *const *)a;
	const struct ins_count *y = *(struct ins_count *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->known != y->known)
		return x->known ? -1 : 1;
	/* Compare a text by its bytes: the printed form may be cut. */
	return strcmp(x->text ? x->text : x->value, y->text ? y->text : y->value);
}

void ins_tally_sort(struct ins_tally *tally)
{
	size_t i;

	if (tally->nothing)
		tally->at[tally->count++] = tally->nothing;
	tally->nothing = NULL;
	for (i = 0; i < tally->count; i++)
		ins_distribution_settle(&tally->at[i]->ages);
	if (tally->count)
		qsort(tally->at, tally->count, sizeof(struct ins_count *), by_count);
}

size_t ins_tally_count(const struct ins_tally *tally)
{
	return tally->count + (tally->nothing != NULL);
}

const struct ins_count *ins_tally_at(const struct ins_tally *tally, size_t i)
{
	return tally->at[i];
}
