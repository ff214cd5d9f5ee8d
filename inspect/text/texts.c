/* SPDX-License-Identifier: MIT */
/*
 * texts.c - a set of texts with counts
 *
 * Each text is kept once, so equal texts have equal pointers.
 */
#include "inspect/text/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ins_texts {
	struct ins_text_kept **at;
	size_t count;
	size_t *slots; /* index + 1 into at; 0: free */
	size_t room;   /* of slots, a power of two; at has room for half of it */
};

int ins_texts_new(struct ins_texts **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? 0 : -ENOMEM;
}

void ins_texts_free(struct ins_texts *texts)
{
	size_t i;

	if (!texts)
		return;
	for (i = 0; i < texts->count; i++)
		free(texts->at[i]);
	free(texts->at);
	free(texts->slots);
	free(texts);
}

static uint64_t hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h ^ (h >> 32);
}

static size_t *slot_of(struct ins_texts *texts, const char *text)
{
	size_t i = (size_t)hash(text) & (texts->room - 1);

	while (texts->slots[i] && strcmp(texts->at[texts->slots[i] - 1]->text, text) != 0)
		i = (i + 1) & (texts->room - 1);
	return &texts->slots[i];
}

static int make_room(struct ins_texts *texts)
{
	size_t room = texts->room ? texts->room * 2 : 64, i;
	struct ins_text_kept **at;
	size_t *slots;

	if (texts->count * 2 < texts->room)
		return 0;
	at = realloc(texts->at, room / 2 * sizeof(struct ins_text_kept *));
	if (!at)
		return -ENOMEM;
	texts->at = at;
	slots = calloc(room, sizeof *slots);
	if (!slots)
		return -ENOMEM;
	free(texts->slots);
	texts->slots = slots;
	texts->room = room;
	for (i = 0; i < texts->count; i++)
		*slot_of(texts, at[i]->text) = i + 1;
	return 0;
}

const struct ins_text_kept *ins_texts_add(struct ins_texts *texts, const char *text, uint64_t n)
{
	struct ins_text_kept *t;
	size_t *slot, size = strlen(text) + 1;

	if (make_room(texts) < 0)
		return NULL;
	slot = slot_of(texts, text);
	if (!*slot) {
		t = malloc(sizeof *t + size);
		if (!t)
			return NULL;
		t->count = 0;
		t->number = texts->count;
		memcpy(t->text, text, size);
		texts->at[texts->count++] = t;
		*slot = texts->count;
	}
	t = texts->at[*slot - 1];
	t->count += n;
	return t;
}

static int by_count(const void *a, const void *b)
{
	const struct ins_text_kept *x = *(struct ins_text_kept *const *)a;
	const struct ins_text_kept *y = *(struct ins_text_kept *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->text, y->text);
}

void ins_texts_sort(struct ins_texts *texts)
{
	if (texts->count)
		qsort(texts->at, texts->count, sizeof(struct ins_text_kept *), by_count);
	free(texts->slots); /* the slots refer to old positions */
	texts->slots = NULL;
	texts->room = 0;
}

size_t ins_texts_count(const struct ins_texts *texts)
{
	return texts->count;
}

const struct ins_text_kept *ins_texts_at(const struct ins_texts *texts, size_t i)
{
	return texts->at[i];
}
