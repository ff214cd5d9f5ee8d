/* SPDX-License-Identifier: MIT */
/* sites.c - count events by place; a ring has a few hundred, so they are compared one by one */
#include "inspect/recording/sites.h"
#include "inspect/symbols/program_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ins_sites {
	struct ins_site **at;
	size_t count;
	struct ins_symbols *symbols;
};

int ins_sites_new(struct ins_sites **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? 0 : -ENOMEM;
}

void ins_sites_free(struct ins_sites *sites)
{
	size_t i;

	if (!sites)
		return;
	for (i = 0; i < sites->count; i++) {
		ins_distribution_drop(&sites->at[i]->durations);
		free(sites->at[i]);
	}
	free(sites->at);
	free(sites);
}

/* The address of the innermost frame; of a fiber that computes, the start of its function. */
static uint64_t place_of(struct ins_symbols *symbols, const struct ins_event *event,
			 const struct ins_walk *walk, unsigned frame)
{
	size_t count;
	const struct ins_frame *f;

	if (frame >= walk->count)
		return 0;
	if (event->e.doing != FIB_WIRE_DOING_COMPUTES)
		return walk->pc[frame];
	f = ins_symbols_at(symbols, walk->pc[frame], ins_walk_returned(walk, frame), &count);
	return f[count - 1].function ? walk->pc[frame] - f[count - 1].offset : walk->pc[frame];
}

static bool equal(const struct ins_sites *sites, const struct ins_site *s,
		  const struct ins_event *event, const struct ins_walk *walk, unsigned frame)
{
	const unsigned rest = walk->count - frame;

	return s->event.e.doing == event->e.doing && s->event.e.call == event->e.call &&
	       s->event.e.wait_kind == event->e.wait_kind && s->walk.count - s->frame == rest &&
	       (rest || s->event.e.lack == event->e.lack) &&
	       place_of(sites->symbols, &s->event, &s->walk, s->frame) ==
		       place_of(sites->symbols, event, walk, frame) &&
	       (rest < 2 || memcmp(s->walk.pc + s->frame + 1, walk->pc + frame + 1,
				   (rest - 1) * sizeof walk->pc[0]) == 0);
}

static struct ins_site *new_site(struct ins_sites *sites)
{
	struct ins_site **at = realloc(sites->at, (sites->count + 1) * sizeof(struct ins_site *));

	if (!at)
		return NULL;
	sites->at = at;
	at[sites->count] = calloc(1, sizeof **at);
	return at[sites->count] ? at[sites->count++] : NULL;
}

/* Events are not in order. */
static void note_time(struct ins_site *s, const struct ins_event *event)
{
	const struct ins_site_time at = {event->e.began, event->ago, event->wall};

	if (!s->count || at.began < s->first.began)
		s->first = at;
	if (!s->count || at.began >= s->last.began)
		s->last = at;
}

int ins_sites_add(struct ins_sites *sites, struct ins_symbols *symbols,
		  const struct ins_event *event, const struct ins_walk *walk)
{
	const unsigned frame = ins_program_frame(symbols, walk);
	const int64_t duration = event->fiber.row.age;
	struct ins_site *s = NULL;
	size_t i;

	sites->symbols = symbols;
	for (i = 0; !s && i < sites->count; i++)
		if (equal(sites, sites->at[i], event, walk, frame))
			s = sites->at[i];
	if (!s)
		s = new_site(sites);
	if (!s || ins_distribution_add(&s->durations, duration) < 0)
		return -ENOMEM;
	note_time(s, event);
	s->count++;
	s->total += duration;
	s->lasting += (event->e.flags & FIB_WIRE_EVENT_LASTS) != 0;
	ins_sample_latest(&s->ids, event->e.fiber);
	s->event = *event;
	s->event.fiber.stack = NULL;
	s->event.fiber.stack_size = 0;
	s->walk = *walk;
	s->frame = frame;
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct ins_site *x = *(struct ins_site *const *)a;
	const struct ins_site *y = *(struct ins_site *const *)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->event.e.number < y->event.e.number ? -1 : 1;
}

void ins_sites_sort(struct ins_sites *sites)
{
	size_t i;

	for (i = 0; i < sites->count; i++)
		ins_distribution_settle(&sites->at[i]->durations);
	if (sites->count)
		qsort(sites->at, sites->count, sizeof(struct ins_site *), by_total);
}

size_t ins_sites_count(const struct ins_sites *sites)
{
	return sites->count;
}

const struct ins_site *ins_sites_at(const struct ins_sites *sites, size_t i)
{
	return sites->at[i];
}
