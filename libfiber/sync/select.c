/* SPDX-License-Identifier: MIT */
/*
 * select.c - the first of several channels
 *
 * A select first looks at its cases one after another, in random order, and does the first that can be
 * done; so each of those that are ready is as likely as the others, and no channel can starve
 * another. If there is none it waits in all of its channels at once: one wait, many places to be found in.
 *
 * Exactly one case is done, because there is one wait. All places carry the same parker and the same ticket, and
 * whoever wants to serve one of them must win the compare-and-swap on that word first (parker.h). The
 * second channel's sender, the deadline and a cancellation all claim the same word and find it decided: they do
 * nothing to us, and look for another partner. The winner notes in which place it found us, under the
 * lock of that place's channel, and we take that lock before we read the note.
 *
 * Nothing is lost between "none is ready" and "we wait": a place is taken under the channel's lock and
 * only if the case is still not ready then. A partner who comes before that is seen by us, one who comes
 * after finds our place. When we see one, we first take back our wait: if that fails, somebody has served us
 * in a place we had taken already, and that is the outcome; if it succeeds, nobody can any more, we leave all places
 * and look again from the start. So we never hold two locks, and never offer ourselves while we are
 * claiming another: of two selects that want each other, the one that comes second claims the first.
 *
 * Each turn of that loop means that somebody else has done something meanwhile, or has given up in a
 * place that the next look clears away.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <fiber/chan.h>
#include <fiber/time.h>

#include "base/atomic.h"
#include "base/check.h"
#include "base/rand.h"
#include "sched/sched.h"
#include "sync/chan.h"

/* So many cases need no allocation. */
#define FEW 8u

struct place {
	struct fib_chan_waiter waiter;
	uint32_t turn; /* the index of the case that is looked at as the i-th */
};

struct select {
	struct fiber_select_case *cases;
	struct place *places; /* of case i: places[i].waiter; the first one's is the wait */
	unsigned count;
	int timer;     /* index of the earliest timer, -1: none */
	int64_t limit; /* of the wait: the deadline or that timer */
};

/* Uniform below n. */
static uint32_t draw(uint32_t n)
{
	static _Atomic uint64_t threads;
	struct fib_carrier *c = fib_carrier_self();
	uint64_t seed;

	if (c)
		return fib_rand_below(&c->rand, n);
	seed = fib_add_relaxed(&threads, UINT64_C(0x9e3779b97f4a7c15)) | 1;
	fib_rand(&seed);
	return fib_rand_below(&seed, n);
}

static void shuffle(struct select *s)
{
	uint32_t i, j;

	for (i = 0; i < s->count; i++) {
		j = i ? draw(i + 1) : 0;
		s->places[i].turn = s->places[j].turn;
		s->places[j].turn = i;
	}
}

static bool is_channel(const struct fiber_select_case *c)
{
	return c->op != FIBER_SELECT_TIMER && c->chan;
}

static enum fib_chan_side side_of(const struct fiber_select_case *c)
{
	return c->op == FIBER_SELECT_SEND ? FIB_CHAN_SEND : FIB_CHAN_RECV;
}

/* The first case, in this select's order, that can be done without waiting is done: its index, or -1. */
static int try_each(struct select *s)
{
	int64_t now = s->timer >= 0 ? fiber_now() : 0;
	struct fiber_select_case *c;
	uint32_t i, at;

	for (i = 0; i < s->count; i++) {
		at = s->places[i].turn;
		c = &s->cases[at];
		if (is_channel(c) && fib_chan_try(c->chan, side_of(c), c->elem, &c->result))
			return (int)at;
		if (c->op == FIBER_SELECT_TIMER && c->at <= now) {
			c->result = 0;
			return (int)at;
		}
	}
	return -1;
}

/* Join the queues of the first cases, up to one that is ready or the end. How many cases that were. */
static uint32_t join_each(struct select *s)
{
	struct fiber_select_case *c;
	uint32_t i;

	/* Copied before any of them is linked. */
	for (i = 1; i < s->count; i++)
		s->places[i].waiter.w = s->places[0].waiter.w;
	for (i = 0; i < s->count; i++) {
		c = &s->cases[i];
		s->places[i].waiter.elem = c->elem;
		if (is_channel(c) && !fib_chan_join(c->chan, side_of(c), &s->places[i].waiter))
			break;
	}
	return i;
}

/* Leave the queues of the first n cases. The index of the one that was served, or -1. */
static int leave_each(struct select *s, uint32_t n)
{
	struct fiber_select_case *c;
	int served = -1;
	uint32_t i;

	for (i = 0; i < n; i++) {
		c = &s->cases[i];
		if (is_channel(c) && fib_chan_leave(c->chan, side_of(c), &s->places[i].waiter)) {
			c->result = s->places[i].waiter.result;
			served = (int)i;
		}
	}
	return served;
}

/* Time was up, for whichever comes first. */
static int time_out(struct select *s, int64_t deadline)
{
	if (s->timer < 0 || s->cases[s->timer].at > deadline)
		return -ETIMEDOUT;
	s->cases[s->timer].result = 0;
	return s->timer;
}

static struct fiber_chan *first_channel(struct select *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (is_channel(&s->cases[i]))
			return s->cases[i].chan;
	return NULL;
}

static int run(struct select *s, int64_t deadline)
{
	struct fib_waiter *w = &s->places[0].waiter.w;
	uint32_t joined;
	int rc, served;

	for (;;) {
		rc = try_each(s);
		if (rc >= 0)
			return rc;
		rc = fib_wait_begin(w, FIB_WAIT_SELECT, first_channel(s), s->count, s->limit);
		if (rc < 0)
			return rc == -ETIMEDOUT ? time_out(s, deadline) : rc;
		joined = join_each(s);
		if (joined < s->count && fib_wait_retract(w)) {
			leave_each(s, joined);
			continue;
		}
		rc = fib_wait(w, s->limit);
		served = leave_each(s, joined);
		if (rc < 0)
			return rc == -ETIMEDOUT ? time_out(s, deadline) : rc;
		fib_check(served >= 0);
		return served;
	}
}

/* What can be said before anything is done: 0, -EINVAL. */
static int prepare(struct select *s, int64_t deadline)
{
	struct fiber_select_case *c;
	uint32_t i;

	s->timer = -1;
	s->limit = deadline;
	for (i = 0; i < s->count; i++) {
		c = &s->cases[i];
		if (c->op != FIBER_SELECT_SEND && c->op != FIBER_SELECT_RECV &&
		    c->op != FIBER_SELECT_TIMER)
			return -EINVAL;
		if (c->op != FIBER_SELECT_TIMER)
			continue;
		if (s->timer < 0 || c->at < s->cases[s->timer].at)
			s->timer = (int)i;
		if (c->at < s->limit)
			s->limit = c->at;
	}
	return 0;
}

int fiber_select(struct fiber_select_case *cases, size_t n, int64_t deadline)
{
	struct place few[FEW];
	struct select s = {.cases = cases, .places = few, .count = (unsigned)n};
	int rc;

	if (n == 0 || n > INT_MAX)
		return -EINVAL;
	rc = prepare(&s, deadline);
	if (rc < 0)
		return rc;
	if (n > FEW)
		s.places = calloc(n, sizeof *s.places);
	if (!s.places)
		return -ENOMEM;
	shuffle(&s);
	rc = run(&s, deadline);
	if (s.places != few)
		free(s.places);
	return rc;
}
