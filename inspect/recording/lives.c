/* SPDX-License-Identifier: MIT */
/* lives.c - the fibers that occur in a recording, in its lists or its events. */
#include "inspect/recording/lives.h"

#include <errno.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
	const struct ins_life *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

struct ins_life *ins_lives_find(const struct ins_lives *lives, uint64_t id)
{
	const struct ins_life wanted = {.id = id};

	return lives->count ? bsearch(&wanted, lives->at, lives->count, sizeof wanted, by_id)
			    : NULL;
}

static void note(struct ins_lives *lives, uint64_t id)
{
	/* Most often it is the one before. */
	if (id && (!lives->count || lives->at[lives->count - 1].id != id))
		lives->at[lives->count++] = (struct ins_life){.id = id};
}

static void make_unique(struct ins_lives *lives)
{
	size_t i, n = 0;

	if (lives->count)
		qsort(lives->at, lives->count, sizeof *lives->at, by_id);
	for (i = 0; i < lives->count; i++)
		if (!n || lives->at[n - 1].id != lives->at[i].id)
			lives->at[n++] = lives->at[i];
	lives->count = n;
}

static void describe(struct ins_lives *lives, const struct ins_recording *r)
{
	struct ins_life *l;
	size_t i;

	for (i = 0; i < r->lasts; i++) {
		if (!(l = ins_lives_find(lives, r->last[i].id)))
			continue;
		l->entry = r->last[i].entry;
		l->last = &r->last[i];
	}
	for (i = 0; i < r->firsts; i++) {
		if (!(l = ins_lives_find(lives, r->first[i].id)))
			continue;
		l->entry = r->first[i].entry;
		l->first = &r->first[i];
	}
	for (i = 0; i < r->events; i++)
		if (r->event[i].event.type == FIB_EVENT_SPAWN &&
		    (l = ins_lives_find(lives, r->event[i].event.fiber)))
			l->entry = r->event[i].event.object;
}

int ins_lives_make(const struct ins_recording *r, struct ins_lives *ret)
{
	size_t i;

	*ret = (struct ins_lives){malloc((r->firsts + r->lasts + r->events + 1) * sizeof *ret->at),
				  0};
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

void ins_lives_free(struct ins_lives *lives)
{
	free(lives->at);
	*lives = (struct ins_lives){NULL, 0};
}
