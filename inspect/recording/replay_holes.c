/* SPDX-License-Identifier: MIT */
/*
 * replay_holes.c - what can be said where events were lost
 *
 * While a ring's events are lost, its carrier may take any fiber that does not run elsewhere, run it, and leave it as it was. So
 * nothing is said of these from the hole's beginning on until the next event that names them; nor, as long as the hole lasts, of those
 * that other rings leave somewhere. What was seen of them after the hole may say that they have done the same ever since.
 *
 * A long recording of many fibers has thousands of holes, so a hole does not look at all fibers but at the open ones:
 * those that did something since the last hole. Looked at once, a fiber is either not known any more, or goes on for sure, until it
 * does something else, or a hole lasts beyond the time when it was seen. Who runs on another carrier, as the list at the
 * beginning says, waits for a hole of that.
 *
 * Some are missing without having been lost: a carrier hears of a recording a moment after it has begun, and until then may wake and run
 * who waits, by the events of another. There what was seen of a fiber says that it did not do the same ever since, and what it did
 * then.
 */
#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/recording/replay_holes.h"

#define GRAIN INT64_C(2000000) /* ns: of "since when" in records */

/* -- what is certain -- */

/* Whether a record that was read at `then` or later is still of what l does. Its time is the coarse clock's. */
static bool goes_on(const struct ins_does *l, int64_t since, uint8_t kind, uint64_t object,
		    uint64_t arg)
{
	if (since > l->since + GRAIN)
		return false;
	return l->doing != INS_DOING_WAITING ||
	       ins_recording_same_wait(kind, object, arg, l->kind, l->object, l->arg);
}

static bool same_sample(const struct ins_does *l, const struct ins_recording_sample *s)
{
	return s->fiber == l->life->id &&
	       goes_on(l, s->since, s->wait_kind, s->wait_object, s->wait_arg);
}

static bool same_last(const struct ins_does *l)
{
	const struct ins_recording_fiber *last = l->life->last;

	return last && ins_doing_of(last) == l->doing &&
	       goes_on(l, last->since, last->wait_kind, last->wait_object, last->wait_arg);
}

/* It is certain that l has done the same until `then`: the list at the end, or a look at the stacks, says so. */
static bool lasts(const struct ins_replay *p, const struct ins_does *l, int64_t then)
{
	const struct ins_recording *r = p->recording;
	const size_t i = ins_recording_samples_of(r, l->life->id, then);

	if (same_last(l) && l->life->last->seen >= then)
		return true;
	return l->doing == INS_DOING_WAITING && i < r->samples && r->sample[i].from >= then &&
	       same_sample(l, &r->sample[i]);
}

/* A wait: until when it is, at least, whatever was lost meanwhile. */
static int64_t known_until(const struct ins_replay *p, const struct ins_does *l, int64_t now)
{
	const struct ins_recording *r = p->recording;
	size_t i;

	if (l->doing != INS_DOING_WAITING)
		return now;
	if (same_last(l) && l->life->last->seen > now)
		now = l->life->last->seen;
	for (i = ins_recording_samples_of(r, l->life->id, now);
	     i < r->samples && same_sample(l, &r->sample[i]); i++)
		if (r->sample[i].from > now)
			now = r->sample[i].from;
	return now < r->head.ended ? now : r->head.ended;
}

const struct ins_recording_sample *ins_holes_dispute(const struct ins_replay *p,
						     const struct ins_does *l, int64_t then,
						     int64_t *ret_until)
{
	const struct ins_recording *r = p->recording;
	size_t i;

	if (l->doing != INS_DOING_WAITING)
		return NULL;
	for (i = ins_recording_samples_of(r, l->life->id, l->since);
	     i < r->samples && r->sample[i].fiber == l->life->id &&
	     r->sample[i].to < then - INS_RECORDING_SLACK;
	     i++) {
		if (r->sample[i].from <= l->since + INS_RECORDING_SLACK ||
		    same_sample(l, &r->sample[i]))
			continue;
		*ret_until = known_until(p, l, l->since);
		if (*ret_until > r->sample[i].from)
			*ret_until = r->sample[i].from;
		return &r->sample[i];
	}
	return NULL;
}

/* Whether an UNPINNED will come that belongs to it, nobody knows. */
static void lose_pinned(struct ins_replay *p, struct ins_does *l, int64_t now)
{
	l->pinned.to = now;
	l->pinned.flags |= INS_SLICE_CUT;
	if (l->pinned.from && p->ops->slice)
		p->ops->slice(p->context, &l->pinned);
	l->pinned.from = 0;
}

/* Nothing is known of it from now on, until the end of the hole at least. */
static void lose(struct ins_replay *p, struct ins_does *l, int64_t now)
{
	if (l->doing == INS_DOING_DEAD || l->doing == INS_DOING_UNKNOWN)
		return;
	lose_pinned(p, l, now);
	now = known_until(p, l, now);
	ins_replay_emit(p, l, l->doing, l->since, now,
			INS_SLICE_CUT | (l->earlier ? INS_SLICE_BEGAN_EARLIER : 0));
	l->lost_at = now > l->since ? now : l->since;
	l->found_at = p->blind_until;
	l->doing = INS_DOING_UNKNOWN;
}

/* -- whom a hole looks at -- */

static int by_time(const void *a, const void *b)
{
	const struct ins_sighting *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The moments until which something may be certain. */
static void note_sightings(struct ins_replay *p)
{
	const struct ins_recording *r = p->recording;
	const struct ins_fiber_table_entry *l;
	size_t i;

	for (i = 0; i < p->fiber_table.count; i++)
		if (p->fiber_table.at[i].last)
			p->sighting[p->sightings++] =
				(struct ins_sighting){p->fiber_table.at[i].last->seen, i};
	for (i = 0; i < r->samples; i++)
		if ((l = ins_fiber_table_find(&p->fiber_table, r->sample[i].fiber)))
			p->sighting[p->sightings++] = (struct ins_sighting){
				r->sample[i].from, (size_t)(l - p->fiber_table.at)};
	if (p->sightings)
		qsort(p->sighting, p->sightings, sizeof *p->sighting, by_time);
}

int ins_holes_new(struct ins_replay *p)
{
	p->open = malloc((p->fiber_table.count + 1) * sizeof(struct ins_does *));
	p->sighting =
		malloc((p->fiber_table.count + p->recording->samples + 1) * sizeof *p->sighting);
	if (!p->open || !p->sighting)
		return -ENOMEM;
	note_sightings(p);
	return 0;
}

void ins_holes_free(struct ins_replay *p)
{
	free(p->open);
	free(p->sighting);
}

void ins_holes_open(struct ins_replay *p, struct ins_does *l)
{
	if (!l->open)
		p->open[p->opens++] = l;
	l->open = true;
}

void ins_holes_rewind(struct ins_replay *p)
{
	size_t i;

	p->blind_until = 0;
	p->opens = p->passed = 0;
	for (i = 0; i < p->fiber_table.count; i++)
		ins_holes_open(p, &p->doing[i]);
}

/* Until a hole of its carrier's. */
static void list(struct ins_replay *p, struct ins_does *l)
{
	struct ins_track *t = &p->track[l->ring];

	if (l->listed)
		return;
	l->listed = true;
	l->next = t->list;
	t->list = l;
}

static void unlist_all(struct ins_replay *p, struct ins_track *t)
{
	struct ins_does *l;

	for (l = t->list; l; l = l->next) {
		l->listed = false;
		ins_holes_open(p, l);
	}
	t->list = NULL;
}

/* -- holes -- */

static void look_at(struct ins_replay *p, const struct ins_track *t, struct ins_does *l,
		    int64_t now)
{
	bool lost;

	if (!l->touched && l->life->first)
		ins_replay_recall(p, l, ins_doing_of(l->life->first), now);
	if (l->doing == INS_DOING_RUNNING)
		lost = l == t->runs ||
		       (!l->touched && (l->ring == INS_NO_RING || &p->track[l->ring] == t));
	else
		lost = l->doing == INS_DOING_UNKNOWN || !lasts(p, l, p->blind_until);
	if (lost) {
		lose(p, l, now);
		l->touched = true;
	} else if (l->doing == INS_DOING_RUNNING && !l->touched) {
		list(p, l);
	}
}

void ins_holes_take(struct ins_replay *p, struct ins_track *t, int64_t now, int64_t then)
{
	size_t i;

	if (then > p->blind_until)
		p->blind_until = then;
	unlist_all(p, t);
	for (; p->passed < p->sightings && p->sighting[p->passed].at < p->blind_until; p->passed++)
		ins_holes_open(p, &p->doing[p->sighting[p->passed].index]);
	if (t->runs)
		ins_holes_open(p, t->runs);
	for (i = 0; i < p->opens; i++) {
		p->open[i]->open = false;
		look_at(p, t, p->open[i], now);
	}
	p->opens = 0;
	t->runs = NULL;
}

void ins_holes_doubt(struct ins_replay *p, struct ins_does *l, int64_t now)
{
	if (l && now < p->blind_until &&
	    (l->doing == INS_DOING_WAITING || l->doing == INS_DOING_RUNNABLE) &&
	    !lasts(p, l, p->blind_until))
		lose(p, l, now);
}

/* One of whom nothing was heard any more, if it is not in the list at the end, ended while events were lost. */
void ins_holes_finish_unknown(struct ins_replay *p, const struct ins_does *l)
{
	const int64_t ended = p->recording->head.ended;

	if (l->life->last || !p->recording->lasts)
		ins_replay_emit(p, l, INS_DOING_UNKNOWN, l->lost_at, ended, INS_SLICE_GOES_ON);
	else
		ins_replay_emit(p, l, INS_DOING_UNKNOWN, l->lost_at,
				l->found_at < ended ? l->found_at : ended, 0);
}
