/* SPDX-License-Identifier: MIT */
/* recording_texts.c - the names of fibers, functions and objects in a recording */
#include "inspect/recording/recording_texts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/escape.h"

#define HALF 16 /* bytes of a name in one event */

static int add(struct ins_keyed_list *list, uint64_t key, const char *text, size_t size)
{
	char *copy = strndup(text, size);

	if (copy && list->count == list->room) {
		const size_t room = list->room ? list->room * 2 : 64;
		struct ins_keyed *at = realloc(list->at, room * sizeof *at);

		if (at) {
			list->at = at;
			list->room = room;
		}
	}
	if (!copy || list->count == list->room) {
		free(copy);
		return -ENOMEM;
	}
	list->at[list->count++] = (struct ins_keyed){key, copy, NULL};
	return 0;
}

/* Longer texts are truncated: a text may be repeated in every row of a table. */
static const uint32_t most[INS_TEXTS_COUNT] = {
	[INS_TEXTS_PLACES] = 2048, [INS_TEXTS_STACKS] = 1 << 16, [INS_TEXTS_SHAPES] = 1 << 16,
	[INS_TEXTS_WORDS] = 64,	   [INS_TEXTS_NAMES] = 64,	 [INS_TEXTS_OBJECTS] = 64,
};

int ins_recording_take_texts(struct ins_recording_texts *in, int which, const unsigned char *at,
			     size_t size)
{
	const unsigned char *end = at + size;
	struct fib_recording_text head;
	int rc = 0;

	while (rc == 0 && at < end) {
		if ((size_t)(end - at) < sizeof head)
			return -EINVAL;
		memcpy(&head, at, sizeof head);
		at += sizeof head;
		if (head.size > (size_t)(end - at))
			return -EINVAL;
		rc = add(&in->list[which], head.key, (const char *)at,
			 head.size < most[which] ? head.size : most[which]);
		at += head.size;
	}
	return rc;
}

/* The first half precedes the second one in the same ring. */
void ins_recording_take_name(struct ins_recording_texts *in, const struct fib_event *e)
{
	struct ins_keyed_list *names = &in->list[INS_TEXTS_NAMES];
	struct ins_keyed *last = names->count ? &names->at[names->count - 1] : NULL;
	char half[HALF + 1] = "", *whole;
	int rc = 0;

	memcpy(half, &e->time, 8);
	memcpy(half + 8, &e->object, 8);
	if (!e->arg) {
		rc = add(names, e->fiber, half, HALF);
	} else if (last && last->key == e->fiber) {
		if (asprintf(&whole, "%.16s%s", last->text, half) < 0) {
			rc = -ENOMEM;
		} else {
			free(last->text);
			last->text = whole;
		}
	}
	if (rc < 0)
		in->rc = rc;
}

/* By key; equal keys in the order in which they were added. */
static int by_key(const void *a, const void *b)
{
	const struct ins_keyed *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int take_fibers(struct ins_recording_texts *in, struct fib_recording_fiber *at, size_t n)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < n; i++) {
		struct fib_recording_fiber *f = &at[i];

		f->name[sizeof f->name - 1] = 0;
		f->object_name[sizeof f->object_name - 1] = 0;
		if (f->name[0])
			rc = add(&in->list[INS_TEXTS_NAMES], f->id, f->name, sizeof f->name);
		if (rc == 0 && f->wait_object && f->object_name[0])
			rc = add(&in->list[INS_TEXTS_OBJECTS], f->wait_object, f->object_name,
				 sizeof f->object_name);
	}
	return rc;
}

static int by_text(const void *a, const void *b)
{
	const struct ins_keyed *const *x = a, *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

/* Let equal texts share a pointer, so that texts are compared by pointer. */
static int share_texts(struct ins_keyed_list *list)
{
	struct ins_keyed **at = malloc((list->count + 1) * sizeof(struct ins_keyed *));
	size_t i;

	if (!at)
		return -ENOMEM;
	for (i = 0; i < list->count; i++)
		at[i] = &list->at[i];
	qsort(at, list->count, sizeof(struct ins_keyed *), by_text);
	for (i = 0; i < list->count; i++)
		at[i]->same = i && by_text(&at[i - 1], &at[i]) == 0 ? at[i - 1]->same : at[i]->text;
	free(at);
	return 0;
}

int ins_recording_name_all(struct ins_recording *r)
{
	struct ins_recording_texts *in = r->texts;
	int rc = in->rc, i;

	if (rc == 0)
		rc = take_fibers(in, r->first, r->firsts);
	if (rc == 0)
		rc = take_fibers(in, r->last, r->lasts);
	for (i = 0; i < INS_TEXTS_COUNT; i++)
		if (in->list[i].count)
			qsort(in->list[i].at, in->list[i].count, sizeof *in->list[i].at, by_key);
	if (rc == 0)
		rc = share_texts(&in->list[INS_TEXTS_STACKS]);
	if (rc == 0)
		rc = share_texts(&in->list[INS_TEXTS_SHAPES]);
	return rc;
}

const char *ins_recording_find_text(const struct ins_recording *r, int which, uint64_t key)
{
	const struct ins_keyed_list *list = &r->texts->list[which];
	const struct ins_keyed wanted = {.key = key}, *at;

	at = list->count ? bsearch(&wanted, list->at, list->count, sizeof *at, by_key) : NULL;
	if (!at)
		return NULL;
	return at->same ? at->same : at->text;
}

const char *ins_recording_place(const struct ins_recording *r, uint64_t address)
{
	return ins_recording_find_text(r, INS_TEXTS_PLACES, address);
}

const char *ins_recording_name(const struct ins_recording *r, uint64_t fiber)
{
	return ins_recording_find_text(r, INS_TEXTS_NAMES, fiber);
}

const char *ins_recording_object(const struct ins_recording *r, uint64_t object)
{
	return object ? ins_recording_find_text(r, INS_TEXTS_OBJECTS, object) : NULL;
}

const char *ins_recording_kind(const struct ins_recording *r, unsigned kind)
{
	const char *text = ins_recording_find_text(r, INS_TEXTS_WORDS, kind);

	return text ? text : "unknown";
}

const char *ins_recording_call(const struct ins_recording *r, uint64_t fiber, char *buf,
			       size_t size)
{
	const char *name = ins_recording_name(r, fiber);
	char plain[160];

	if (name)
		snprintf(buf, size, "%" PRIu64 " \"%s\"", fiber,
			 ins_escape_quoted(name, plain, sizeof plain));
	else
		snprintf(buf, size, "%" PRIu64, fiber);
	return buf;
}

const char *ins_recording_wait(const struct ins_recording *r, unsigned kind, uint64_t object,
			       uint32_t arg, char *buf, size_t size)
{
	const char *name = ins_recording_object(r, object);
	char word[64], plain[160];

	ins_escape(ins_recording_kind(r, kind), word, sizeof word);
	if (kind == FIB_WAIT_FD)
		snprintf(buf, size, "%s %" PRIu32, word, arg);
	else if (kind == FIB_WAIT_JOIN)
		snprintf(buf, size, "%s %s", word,
			 ins_recording_call(r, object, plain, sizeof plain));
	else if (name)
		snprintf(buf, size, "%s \"%s\"@0x%" PRIx64, word,
			 ins_escape_quoted(name, plain, sizeof plain), object);
	else if (object && kind != FIB_WAIT_SLEEP)
		snprintf(buf, size, "%s@0x%" PRIx64, word, object);
	else
		snprintf(buf, size, "%s", word);
	return buf;
}

void ins_recording_free_texts(struct ins_recording_texts *in)
{
	size_t i;
	int k;

	for (k = 0; in && k < INS_TEXTS_COUNT; k++) {
		for (i = 0; i < in->list[k].count; i++)
			free(in->list[k].at[i].text);
		free(in->list[k].at);
	}
	free(in);
}
