/* SPDX-License-Identifier: MIT */
/*
 * replay_holes.c - what is still known where events were lost
 *
 * While a ring's events are lost, its carrier may take any fiber that does not run elsewhere, run
 * it, and leave it as it was. So such a fiber is unknown from the start of the hole until the next
 * event that names it. A fiber that another ring leaves during the hole is unknown too. A sample
 * after the hole may prove that a fiber has done the same all the time.
 *
 * A long recording of many fibers has thousands of holes. So a hole does not check all fibers but
 * only the open ones: those that did something since the last hole. After the check a fiber is
 * either unknown, or certain until it does something else or a hole lasts beyond the time of its
 * sample. A fiber that runs on another carrier, according to the list at the start, is checked at
 * that carrier's next hole.
 *
 * Some events are missing without being counted as lost: a carrier starts to record a moment after
 * the recording has begun. Until then it may wake and run fibers that wait according to another
 * carrier's events. In this case a sample proves that a fiber did not do the same all the time, and
 * what it did instead.
 */
#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/recording/replay_holes.h"

#define GRAIN INT64_C(2000000) /* ns: the precision of the start of a wait in records */

/* -- what is certain -- */

/*
 * Whether a record that was read at `then` or later still shows what l does. Its time is of the
 * coarse clock.
 */
static bool goes_on(const struct ins_does *l, int64_t since, uint8_t kind, uint64_t object,
		    uint64_t arg)
{
	if (since > l->since + GRAIN)
		return false;
	return l->doing != INS_DOING_WAITING ||
	       ins_recording_same_wait(kind, object, arg, l->kind, l->object, l->arg);
}

static bool same_sample(const struct ins_does *l, const struct fib_recording_sample *s)
{
	return s->fiber == l->life->id &&
	       goes_on(l, s->since, s->wait_kind, s->wait_object, s->wait_arg);
}

static bool same_last(const struct ins_does *l)
{
	const struct fib_recording_fiber *last = l->life->last;

	return last && ins_doing_of(last) == l->doing &&
	       goes_on(l, last->since, last->wait_kind, last->wait_object, last->wait_arg);
}

/* Whether l has certainly done the same until `then`, by the list at the end or a stack sample. */
static bool lasts(const struct ins_replay *p, const struct ins_does *l, int64_t then)
{
	const struct ins_recording *r = p->recording;
	const size_t i = ins_recording_samples_of(r, l->life->id, then);

	if (same_last(l) && l->life->last->seen >= then)
		return true;
	return l->doing == INS_DOING_WAITING && i < r->samples && r->sample[i].from >= then &&
	       same_sample(l, &r->sample[i]);
}

/* The time until which a wait has certainly lasted, regardless of lost events. */
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

const struct fib_recording_sample *ins_holes_dispute(const struct ins_replay *p,
						     const struct ins_does *l, int64_t then,
						     int64_t *ret_until)
{
	const struct ins_recording *r = p->recording;
	size_t i;

	if (l->doing != INS_DOING_WAITING)
		return NULL;
	for (i = ins_recording_samples_of(r, l->life->id, l->since);
	     i < r->samples && r->sample[i].fiber == l->life->id &&
	     r->sample[i].to < then - FIB_RECORDING_SLACK;
	     i++) {
		if (r->sample[i].from <= l->since + FIB_RECORDING_SLACK ||
		    same_sample(l, &r->sample[i]))
			continue;
		*ret_until = known_until(p, l, l->since);
		if (*ret_until > r->sample[i].from)
			*ret_until = r->sample[i].from;
		return &r->sample[i];
	}
	return NULL;
}

/* The UNPINNED event that belongs to it may be lost. */
static void lose_pinned(struct ins_replay *p, struct ins_does *l, int64_t now)
{
	l->pinned.to = now;
	l->pinned.flags |= INS_SLICE_CUT;
	if (l->pinned.from && p->ops->slice)
		p->ops->slice(p->context, &l->pinned);
	l->pinned.from = 0;
}

/* Make l unknown from now on, at least until the end of the hole. */
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

/* -- the fibers that a hole checks -- */

static int by_time(const void *a, const void *b)
{
	const struct ins_sighting *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* List the times up to which a fiber may be certain. */
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

/* Defer the check to a hole of the fiber's own carrier. */
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

/*
 * A fiber without further events that is not in the list at the end exited while events were lost.
 */
void ins_holes_finish_unknown(struct ins_replay *p, const struct ins_does *l)
{
	const int64_t ended = p->recording->head.ended;

	if (l->life->last || !p->recording->lasts)
		ins_replay_emit(p, l, INS_DOING_UNKNOWN, l->lost_at, ended, INS_SLICE_GOES_ON);
	else
		ins_replay_emit(p, l, INS_DOING_UNKNOWN, l->lost_at,
				l->found_at < ended ? l->found_at : ended, 0);
}
