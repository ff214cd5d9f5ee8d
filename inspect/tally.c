/* SPDX-License-Identifier: MIT */
/* tally.c - fibers counted by the value of one of their fields: a tree from words to counts. */
#include "inspect/tally.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct ins_tally {
	struct ins_field field;
	void *tree; /* tsearch(3)'s, of struct ins_count */
	struct ins_count **at;
	size_t count, room;
};

int ins_tally_new(const struct ins_field *field, struct ins_tally **ret)
{
	*ret = calloc(1, sizeof **ret);
	if (!*ret)
		return -ENOMEM;
	(*ret)->field = *field;
	return 0;
}

static void drop(struct ins_count *c)
{
	ins_spread_drop(&c->ages);
	free(c->value);
	free(c->text);
	free(c);
}

static void forget(void *node)
{
	(void)node;
}

void ins_tally_free(struct ins_tally *tally)
{
	size_t i;

	if (!tally)
		return;
	tdestroy(tally->tree, forget);
	for (i = 0; i < tally->count; i++)
		drop(tally->at[i]);
	free(tally->at);
	free(tally);
}

/* A text as it is: what is said of it may be cut, and "-" may be one. */
static const char *words_of(const struct ins_count *c)
{
	return c->text ? c->text : c->value;
}

static int by_value(const void *a, const void *b)
{
	const struct ins_count *x = a, *y = b;

	if (x->known != y->known)
		return x->known ? -1 : 1;
	return strcmp(words_of(x), words_of(y));
}

static int make_room(struct ins_tally *tally)
{
	size_t room = tally->room ? 2 * tally->room : 32;
	struct ins_count **at;

	if (tally->count < tally->room)
		return 0;
	at = realloc(tally->at, room * sizeof(struct ins_count *));
	if (!at)
		return -ENOMEM;
	tally->at = at;
	tally->room = room;
	return 0;
}

/* The count like key, a new one if need be. NULL without memory. */
static struct ins_count *find(struct ins_tally *tally, const struct ins_count *key)
{
	struct ins_count *const *found = tfind(key, &tally->tree, by_value);
	struct ins_count *c;

	if (found)
		return *found;
	c = make_room(tally) < 0 ? NULL : calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->known = key->known;
	c->value = strdup(key->value);
	c->text = key->text ? strdup(key->text) : NULL;
	if (!c->value || (key->text && !c->text) || !tsearch(c, &tally->tree, by_value)) {
		drop(c);
		return NULL;
	}
	return tally->at[tally->count++] = c;
}

static int count_in(struct ins_count *c, const struct fib_row *row)
{
	c->count++;
	c->cpu += row->cpu;
	ins_sample_lowest(&c->ids, row->id);
	return ins_spread_add(&c->ages, row->age);
}

int ins_tally_add(struct ins_tally *tally, struct ins_sight *sight)
{
	const struct ins_value value = ins_field_get(sight, &tally->field);
	char said[512];
	struct ins_line l = ins_line(said, sizeof said);
	struct ins_count key = {.known = value.known, .value = said}, *c;

	ins_field_say(&l, &tally->field, value);
	if (value.known && ins_field_is_text(&tally->field))
		key.text = (char *)value.text;
	c = find(tally, &key);
	return c ? count_in(c, &sight->fiber->row) : -ENOMEM;
}

static int by_count(const void *a, const void *b)
{
	const struct ins_count *x = *(struct ins_count *const *)a;
	const struct ins_count *y = *(struct ins_count *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_value(x, y);
}

void ins_tally_sort(struct ins_tally *tally)
{
	size_t i;

	for (i = 0; i < tally->count; i++)
		ins_spread_settle(&tally->at[i]->ages);
	if (tally->count)
		qsort(tally->at, tally->count, sizeof(struct ins_count *), by_count);
}

size_t ins_tally_count(const struct ins_tally *tally)
{
	return tally->count;
}

const struct ins_count *ins_tally_at(const struct ins_tally *tally, size_t i)
{
	return tally->at[i];
}
