/* SPDX-License-Identifier: MIT */
/*
 * replay.c - turn events into slices of time
 *
 * What a fiber did before its first event is known only if the list of fibers, made at the start of
 * the recording, shows it too: a carrier starts to record a moment after the recording has begun.
 *
 * A waker may be faster than a fiber that is about to wait: the wake-up event then precedes the
 * event of the wait. The wake-up is kept, and the fiber becomes runnable as soon as it has left its
 * carrier.
 */
#include "inspect/recording/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/recording/replay_holes.h"

static struct ins_does *find(const struct ins_replay *p, uint64_t id)
{
	const struct ins_fiber_table_entry *life = ins_fiber_table_find(&p->fiber_table, id);

	return life ? &p->doing[life - p->fiber_table.at] : NULL;
}

/* Map a carrier's index to its ring, if there is only one. */
static int find_rings(struct ins_replay *p)
{
	const struct ins_recording *r = p->recording;
	const uint32_t several = INS_NO_RING - 1;
	size_t i;

	for (i = 0; i < r->rings; i++)
		if (r->ring[i].carrier >= p->carriers && r->ring[i].carrier <= UINT16_MAX)
			p->carriers = r->ring[i].carrier + 1;
	p->ring = malloc((p->carriers + 1) * sizeof *p->ring);
	if (!p->ring)
		return -ENOMEM;
	for (i = 0; i < p->carriers; i++)
		p->ring[i] = INS_NO_RING;
	for (i = 0; i < r->rings; i++) {
		const uint32_t carrier = r->ring[i].carrier;

		if (carrier < p->carriers)
			p->ring[carrier] = p->ring[carrier] == INS_NO_RING ? (uint32_t)i : several;
	}
	for (i = 0; i < p->carriers; i++)
		if (p->ring[i] == several)
			p->ring[i] = INS_NO_RING;
	return 0;
}

int ins_replay_new(const struct ins_recording *r, struct ins_replay **ret)
{
	struct ins_replay *p = calloc(1, sizeof *p);

	if (p && ins_fiber_table_make(r, &p->fiber_table) == 0) {
		p->recording = r;
		p->doing = calloc(p->fiber_table.count + 1, sizeof *p->doing);
		p->track = calloc(r->rings + 1, sizeof *p->track);
	}
	if (!p || !p->doing || !p->track || find_rings(p) < 0 || ins_holes_new(p) < 0) {
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
	ins_fiber_table_free(&p->fiber_table);
	free(p->doing);
	free(p->track);
	free(p->ring);
	ins_holes_free(p);
	free(p);
}

const struct ins_fiber_table *ins_replay_fibers(const struct ins_replay *p)
{
	return &p->fiber_table;
}

/* -- slices -- */

/*
 * Emit what it did until now. If a sample shows another wait in between, emit that one from the
 * sample on.
 */
static void emit_done(struct ins_replay *p, struct ins_does *l, int64_t now, unsigned flags)
{
	const struct fib_recording_sample *s;
	int64_t until;

	if (l->earlier)
		flags |= INS_SLICE_BEGAN_EARLIER;
	while ((s = ins_holes_dispute(p, l, now, &until))) {
		ins_replay_emit(p, l, l->doing, l->since, until,
				(flags & INS_SLICE_BEGAN_EARLIER) | INS_SLICE_CUT);
		ins_replay_emit(p, l, INS_DOING_UNKNOWN, until, s->from, 0);
		flags = (flags & INS_SLICE_GOES_ON) | INS_SLICE_CUT;
		l->since = s->from;
		l->kind = s->wait_kind;
		l->object = s->wait_kind == FIB_WAIT_JOIN ? s->wait_arg : s->wait_object;
		l->arg = (uint32_t)s->wait_arg;
		l->ways = s->wait_kind == FIB_WAIT_FD ? ins_replay_ways(s->wait_arg) : 0;
	}
	ins_replay_emit(p, l, l->doing, l->since, now, flags);
}

/* Emit what it did until now, if known, and start something else. */
static void turn(struct ins_replay *p, struct ins_does *l, enum ins_doing doing, int64_t now)
{
	if (l->doing != INS_DOING_UNKNOWN && l->doing != INS_DOING_DEAD)
		emit_done(p, l, now, 0);
	else if (l->lost_at)
		ins_replay_emit(p, l, INS_DOING_UNKNOWN, l->lost_at, now, 0);
	ins_holes_open(p, l);
	l->doing = doing;
	/* A sample may prove it later than the event's time. */
	l->since = now > l->lost_at ? now : l->lost_at;
	l->lost_at = 0;
	l->earlier = false;
	l->woken = false;
	l->touched = true;
}

/* -- events -- */

static void leave(struct ins_replay *p, struct ins_does *l, const struct ins_recorded *e)
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
	l->ways = e->event.flags & (FIB_EVENT_READ | FIB_EVENT_WRITE);
}

/*
 * The first RUN of a carrier shows which fiber it left: the one that the list of fibers shows
 * there. If it left none, that fiber had gone before.
 */
static void take_first(struct ins_replay *p, struct ins_track *t, const struct ins_recorded *e)
{
	struct ins_does *l = t->first;

	t->first = NULL;
	if (!l || l->touched || t->runs || t->ended)
		return;
	ins_replay_recall(p, l, INS_DOING_RUNNING, e->ns);
	if (l->doing != INS_DOING_RUNNING)
		return;
	if (e->event.state != FIB_EVENT_NOBODY) {
		t->runs = l;
		return;
	}
	l->doing = INS_DOING_UNKNOWN;
	l->touched = true;
}

static void take_run(struct ins_replay *p, const struct ins_recorded *e)
{
	struct ins_track *t = &p->track[e->ring];
	struct ins_does *next = find(p, e->event.fiber);

	take_first(p, t, e);
	if (t->runs && !t->ended && t->runs->doing == INS_DOING_RUNNING &&
	    e->event.state != FIB_EVENT_NOBODY && e->event.state != FIBER_DEAD)
		leave(p, t->runs, e);
	t->runs = next;
	t->ended = false;
	if (!next)
		return;
	ins_replay_recall(p, next, INS_DOING_RUNNABLE, e->ns);
	/* It still seems to run elsewhere: the event of its leaving was lost. */
	if (next->doing == INS_DOING_RUNNING)
		next->doing = INS_DOING_UNKNOWN;
	turn(p, next, INS_DOING_RUNNING, e->ns);
	next->ring = e->ring;
}

static void say_wakeup(struct ins_replay *p, const struct ins_recorded *e, uint64_t waker,
		       bool spawn)
{
	const struct ins_track *t = &p->track[e->ring];
	const struct ins_wakeup wakeup = {
		e->ns,	 waker, e->event.fiber,
		e->ring, spawn, t->ended && t->runs && t->runs->life->id == waker};

	if (p->ops->wakeup)
		p->ops->wakeup(p->context, &wakeup);
}

static void take_wake(struct ins_replay *p, struct ins_does *l, const struct ins_recorded *e)
{
	const struct ins_track *t = &p->track[e->ring];
	uint64_t waker = e->event.object;

	/* A fiber wakes its joiner as its last action. */
	if (!waker && t->runs && t->ended)
		waker = t->runs->life->id;
	ins_replay_recall(p, l, INS_DOING_WAITING, e->ns);
	if (l->doing == INS_DOING_RUNNABLE)
		return; /* it has just been made runnable */
	say_wakeup(p, e, waker, false);
	if (l->doing == INS_DOING_RUNNING)
		l->woken = true;
	else
		turn(p, l, INS_DOING_RUNNABLE, e->ns);
}

static void take_pinned(struct ins_replay *p, struct ins_does *l, const struct ins_recorded *e)
{
	if (e->event.type == FIB_EVENT_PINNED) {
		l->pinned = (struct ins_slice){
			.fiber = l->life->id,
			.index = (size_t)(l - p->doing),
			.doing = INS_DOING_PINNED,
			.ring = e->ring,
			.from = e->ns,
			.object = e->event.object,
			.arg = e->event.arg,
			.kind = e->event.kind,
			.ways = e->event.flags & (FIB_EVENT_READ | FIB_EVENT_WRITE),
		};
	} else if (l->pinned.from) {
		l->pinned.to = e->ns;
		if (p->ops->slice)
			p->ops->slice(p->context, &l->pinned);
		l->pinned.from = 0;
	}
}

static void take(struct ins_replay *p, const struct ins_recorded *e)
{
	struct ins_track *t = &p->track[e->ring];
	struct ins_does *l = find(p, e->event.fiber), *left = t->ended ? NULL : t->runs;

	if (!l && e->event.type != FIB_EVENT_RUN && e->event.type != FIB_EVENT_COUNT)
		return;
	switch (e->event.type) {
	case FIB_EVENT_RUN:
		take_run(p, e);
		ins_holes_doubt(p, left, e->ns);
		break;
	case FIB_EVENT_COUNT: /* events were lost */
		ins_holes_take(p, t, e->ns, (int64_t)e->event.object);
		break;
	case FIB_EVENT_SPAWN:
		turn(p, l, INS_DOING_RUNNABLE, e->ns);
		say_wakeup(p, e, t->runs ? t->runs->life->id : 0, true);
		ins_holes_doubt(p, l, e->ns);
		break;
	case FIB_EVENT_EXIT:
		ins_replay_recall(p, l, INS_DOING_RUNNING, e->ns);
		turn(p, l, INS_DOING_DEAD, e->ns);
		t->runs = l;
		t->ended = true;
		break;
	case FIB_EVENT_WAKE:
		take_wake(p, l, e);
		ins_holes_doubt(p, l, e->ns);
		break;
	case FIB_EVENT_PINNED:
	case FIB_EVENT_UNPINNED:
		take_pinned(p, l, e);
		break;
	default:
		break;
	}
}

/* Emit what each fiber still does at the end. */
static void finish(struct ins_replay *p)
{
	const int64_t ended = p->recording->head.ended;
	size_t i;

	for (i = 0; i < p->fiber_table.count; i++) {
		struct ins_does *l = &p->doing[i];

		if (!l->touched && l->life->first)
			ins_replay_recall(p, l, ins_doing_of(l->life->first), ended);
		if (l->pinned.from) {
			l->pinned.to = ended;
			l->pinned.flags |= INS_SLICE_GOES_ON;
			if (p->ops->slice)
				p->ops->slice(p->context, &l->pinned);
		}
		if (l->doing != INS_DOING_UNKNOWN && l->doing != INS_DOING_DEAD)
			emit_done(p, l, ended, INS_SLICE_GOES_ON);
		else if (l->lost_at)
			ins_holes_finish_unknown(p, l);
	}
}

/* Of two fibers seen on one carrier, the one seen later runs there. */
static void note_first(struct ins_replay *p, struct ins_does *l)
{
	const struct fib_recording_fiber *f = l->life->first;
	struct ins_track *t;

	if (!f || f->state != FIBER_RUNNING || f->carrier >= p->carriers ||
	    p->ring[f->carrier] == INS_NO_RING)
		return;
	t = &p->track[p->ring[f->carrier]];
	if (!t->first || t->first->life->first->seen <= f->seen)
		t->first = l;
}

/* Reset to the state before the first event. */
static void rewind_all(struct ins_replay *p)
{
	size_t i;

	for (i = 0; i < p->fiber_table.count; i++)
		p->doing[i] = (struct ins_does){.life = &p->fiber_table.at[i]};
	memset(p->track, 0, p->recording->rings * sizeof *p->track);
	for (i = 0; i < p->fiber_table.count; i++)
		note_first(p, &p->doing[i]);
	ins_holes_rewind(p);
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
	}
	finish(p);
}
