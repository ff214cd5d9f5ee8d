/* SPDX-License-Identifier: MIT */
/*
 * replay.c - from events to what lasts
 *
 * What a fiber did before its first event is only said where the list of fibers, made when the recording began, says it too: a
 * carrier hears of a recording a moment after it has begun. And where events were lost, nothing is said of whoever may have run there until
 * the next event that names him.
 *
 * A waker may be faster than the fiber that is about to leave: its event comes before the one that says that the fiber
 * waits. That is kept, and the fiber is runnable as soon as it has left.
 */
#include "inspect/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/lives.h"
#include "layout/layout.h"

#define GRAIN INT64_C(2000000) /* ns: of "since when" in lists */

/* What a fiber does. */
struct doing {
	const struct ins_life *life;
	enum ins_doing doing;
	bool woken;   /* while it is about to leave */
	bool touched; /* what it does now, an event has said */
	bool earlier; /* what it does began before the recording */
	uint8_t kind;
	uint32_t arg, ring;
	uint64_t object;
	int64_t since;
	struct ins_slice pinned; /* from 0: it is not */
};

struct track {
	struct doing *runs; /* NULL: nobody, or not known */
	bool ended;	    /* that one has */
	int64_t latest;	    /* its last event, ns */
};

struct ins_replay {
	const struct ins_recording *recording;
	struct ins_lives lives;
	struct doing *doing;
	struct track *track;
	const struct ins_replay_ops *ops;
	void *context;
};

static struct doing *find(const struct ins_replay *p, uint64_t id)
{
	const struct ins_life *life = ins_lives_find(&p->lives, id);

	return life ? &p->doing[life - p->lives.at] : NULL;
}

int ins_replay_new(const struct ins_recording *r, struct ins_replay **ret)
{
	struct ins_replay *p = calloc(1, sizeof *p);

	if (p && ins_lives_make(r, &p->lives) == 0) {
		p->recording = r;
		p->doing = calloc(p->lives.count + 1, sizeof *p->doing);
		p->track = calloc(r->rings + 1, sizeof *p->track);
	}
	if (!p || !p->doing || !p->track) {
		ins_replay_free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

void ins_replay_free(struct ins_replay *p)
{
	if (!p)
		return;
	ins_lives_free(&p->lives);
	free(p->doing);
	free(p->track);
	free(p);
}

const struct ins_lives *ins_replay_lives(const struct ins_replay *p)
{
	return &p->lives;
}

/* -- slices -- */

static void emit(struct ins_replay *p, const struct doing *l, enum ins_doing doing, int64_t from,
		 int64_t to, unsigned flags)
{
	const struct ins_slice slice = {
		l->life->id, (size_t)(l - p->doing), doing, l->ring, from, to, l->object, l->arg,
		l->kind,     (uint8_t)flags};

	if (to >= from && p->ops->slice)
		p->ops->slice(p->context, &slice);
}

/* What it has done up to now, if that is known, and that it does something else from now on. */
static void turn(struct ins_replay *p, struct doing *l, enum ins_doing doing, int64_t now)
{
	if (l->doing != INS_DOING_UNKNOWN && l->doing != INS_DOING_DEAD)
		emit(p, l, l->doing, l->since, now, l->earlier ? INS_SLICE_BEGAN_EARLIER : 0);
	l->doing = doing;
	l->since = now;
	l->earlier = false;
	l->woken = false;
	l->touched = true;
}

static enum ins_doing doing_of(const struct ins_recording_fiber *f)
{
	return f->state == FIBER_RUNNING     ? INS_DOING_RUNNING
	       : f->state == FIBER_RUNNABLE  ? INS_DOING_RUNNABLE
	       : f->state == FIBER_SUSPENDED ? INS_DOING_WAITING
					     : INS_DOING_UNKNOWN;
}

/* The carrier of that index, where there is only one. */
static uint32_t ring_of(const struct ins_recording *r, uint32_t carrier)
{
	uint32_t found = INS_NO_RING, i;

	for (i = 0; i < r->rings; i++) {
		if (r->ring[i].carrier != carrier)
			continue;
		if (found != INS_NO_RING)
			return INS_NO_RING;
		found = i;
	}
	return found;
}

/* Its first event, at `now`, says that it did that before: what does the list say? */
static void recall(struct ins_replay *p, struct doing *l, enum ins_doing doing, int64_t now)
{
	const struct ins_recording_head *head = &p->recording->head;
	const struct ins_recording_fiber *f = l->life->first;

	if (l->touched || !f || f->since > now || doing_of(f) != doing)
		return;
	l->doing = doing;
	l->earlier = f->since < head->began;
	l->since = l->earlier ? head->began : f->since;
	l->kind = f->wait_kind;
	l->object = f->wait_kind == FIB_WAIT_JOIN ? f->wait_arg : f->wait_object;
	l->arg = (uint32_t)f->wait_arg;
	l->ring = ring_of(p->recording, f->carrier);
}

/* -- events -- */

static void leave(struct ins_replay *p, struct doing *l, const struct ins_recorded *e)
{
	const bool woken = l->woken;

	if (e->event.state == FIBER_RUNNABLE) {
		turn(p, l, INS_DOING_RUNNABLE, e->ns);
		return;
	}
	turn(p, l, woken ? INS_DOING_RUNNABLE : INS_DOING_WAITING, e->ns);
	l->kind = e->event.kind;
	l->object = e->event.object;
	l->arg = e->event.arg;
}

static void take_run(struct ins_replay *p, const struct ins_recorded *e)
{
	struct track *t = &p->track[e->ring];
	struct doing *next = find(p, e->event.fiber);

	if (t->runs && !t->ended && t->runs->doing == INS_DOING_RUNNING &&
	    e->event.state != FIB_EVENT_NOBODY && e->event.state != FIBER_DEAD)
		leave(p, t->runs, e);
	t->runs = next;
	t->ended = false;
	if (!next)
		return;
	recall(p, next, INS_DOING_RUNNABLE, e->ns);
	/* It runs elsewhere, as far as we know: that it left was lost. */
	if (next->doing == INS_DOING_RUNNING)
		next->doing = INS_DOING_UNKNOWN;
	turn(p, next, INS_DOING_RUNNING, e->ns);
	next->ring = e->ring;
}

static void say_wakeup(struct ins_replay *p, const struct ins_recorded *e, uint64_t waker,
		       bool spawn)
{
	const struct track *t = &p->track[e->ring];
	const struct ins_wakeup wakeup = {
		e->ns,	 waker, e->event.fiber,
		e->ring, spawn, t->ended && t->runs && t->runs->life->id == waker};

	if (p->ops->wakeup)
		p->ops->wakeup(p->context, &wakeup);
}

static void take_wake(struct ins_replay *p, struct doing *l, const struct ins_recorded *e)
{
	const struct track *t = &p->track[e->ring];
	uint64_t waker = e->event.object;

	/* It wakes who joins it as the last thing it does. */
	if (!waker && t->runs && t->ended)
		waker = t->runs->life->id;
	recall(p, l, INS_DOING_WAITING, e->ns);
	if (l->doing == INS_DOING_RUNNABLE)
		return; /* was made just now */
	say_wakeup(p, e, waker, false);
	if (l->doing == INS_DOING_RUNNING)
		l->woken = true;
	else
		turn(p, l, INS_DOING_RUNNABLE, e->ns);
}

static void take_pinned(struct ins_replay *p, struct doing *l, const struct ins_recorded *e)
{
	if (e->event.type == FIB_EVENT_PINNED) {
		l->pinned = (struct ins_slice){
			l->life->id, (size_t)(l - p->doing), INS_DOING_PINNED, e->ring,	      e->ns,
			0,	     e->event.object,	     e->event.arg,     e->event.kind, 0};
	} else if (l->pinned.from) {
		l->pinned.to = e->ns;
		if (p->ops->slice)
			p->ops->slice(p->context, &l->pinned);
		l->pinned.from = 0;
	}
}

/* It is certain that l has done the same until `then`: the list at the end, made later, says so. The grain of that is the
 * coarse clock's. */
static bool lasts(const struct doing *l, int64_t then)
{
	const struct ins_recording_fiber *last = l->life->last;

	return last && last->seen >= then && doing_of(last) == l->doing &&
	       last->since <= l->since + GRAIN;
}

/* Whether l may have run on t's carrier while nobody knows who did. */
static bool may_have_run(const struct ins_replay *p, const struct track *t, const struct doing *l,
			 int64_t then)
{
	if (l->doing == INS_DOING_RUNNING)
		return l == t->runs ||
		       (!l->touched && (l->ring == INS_NO_RING || &p->track[l->ring] == t));
	return !lasts(l, then);
}

/* What happened on t's carrier from its last event until `then` was lost. Whoever ran there did so until then; whoever did not run may have
 * done so meanwhile, for all that is known. */
static void take_hole(struct ins_replay *p, struct track *t, int64_t then)
{
	const int64_t from = t->latest ? t->latest : p->recording->head.began;
	size_t i;

	for (i = 0; i < p->lives.count; i++) {
		struct doing *l = &p->doing[i];

		if (!l->touched && l->life->first)
			recall(p, l, doing_of(l->life->first), from);
		if (!may_have_run(p, t, l, then))
			continue;
		if (l->doing != INS_DOING_DEAD && l->doing != INS_DOING_UNKNOWN && from > l->since)
			emit(p, l, l->doing, l->since, from,
			     l->earlier ? INS_SLICE_BEGAN_EARLIER : 0);
		if (l->doing != INS_DOING_DEAD)
			l->doing = INS_DOING_UNKNOWN;
		l->touched = true;
	}
	t->runs = NULL;
}

static void take(struct ins_replay *p, const struct ins_recorded *e)
{
	struct track *t = &p->track[e->ring];
	struct doing *l = find(p, e->event.fiber);

	if (!l && e->event.type != FIB_EVENT_RUN && e->event.type != FIB_EVENT_COUNT)
		return;
	switch (e->event.type) {
	case FIB_EVENT_RUN:
		take_run(p, e);
		break;
	case FIB_EVENT_COUNT: /* events were lost */
		take_hole(p, t, e->ns);
		break;
	case FIB_EVENT_SPAWN:
		turn(p, l, INS_DOING_RUNNABLE, e->ns);
		say_wakeup(p, e, t->runs ? t->runs->life->id : 0, true);
		break;
	case FIB_EVENT_EXIT:
		recall(p, l, INS_DOING_RUNNING, e->ns);
		turn(p, l, INS_DOING_DEAD, e->ns);
		t->runs = l;
		t->ended = true;
		break;
	case FIB_EVENT_WAKE:
		take_wake(p, l, e);
		break;
	case FIB_EVENT_PINNED:
	case FIB_EVENT_UNPINNED:
		take_pinned(p, l, e);
		break;
	default:
		break;
	}
}

/* What everybody still does. */
static void finish(struct ins_replay *p)
{
	const int64_t ended = p->recording->head.ended;
	size_t i;

	for (i = 0; i < p->lives.count; i++) {
		struct doing *l = &p->doing[i];

		if (!l->touched && l->life->first)
			recall(p, l, doing_of(l->life->first), ended);
		if (l->doing != INS_DOING_UNKNOWN && l->doing != INS_DOING_DEAD)
			emit(p, l, l->doing, l->since, ended,
			     INS_SLICE_GOES_ON | (l->earlier ? INS_SLICE_BEGAN_EARLIER : 0));
	}
}

/* As before the first event. */
static void rewind_all(struct ins_replay *p)
{
	size_t i;

	for (i = 0; i < p->lives.count; i++)
		p->doing[i] = (struct doing){.life = &p->lives.at[i]};
	memset(p->track, 0, p->recording->rings * sizeof *p->track);
}

void ins_replay_play(struct ins_replay *p, const struct ins_replay_ops *ops, void *context)
{
	const struct ins_recording *r = p->recording;
	size_t i;

	rewind_all(p);
	p->ops = ops;
	p->context = context;
	for (i = 0; i < r->events; i++) {
		const struct ins_recorded *e = &r->event[i];

		if (e->ns > r->head.ended)
			break;
		if (e->ns < r->head.began)
			continue;
		if (ops->mark)
			ops->mark(context, e);
		take(p, e);
		p->track[e->ring].latest = e->ns;
	}
	finish(p);
}
