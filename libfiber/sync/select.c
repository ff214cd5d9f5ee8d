/* SPDX-License-Identifier: MIT */
/*
 * select.c - wait for the first of several channels, descriptors and timers
 *
 * A select first looks at its cases in random order and does the first that is ready. So all ready
 * cases are equally likely, and no channel can starve another. If none is ready, the select joins
 * the queues of all its channels with one wait, in the same random order. A partner claims the
 * first place in a queue, so several cases on one channel are equally likely to be served, too.
 *
 * Closing a channel makes all its cases ready but claims only one place. A select that is woken
 * with -EPIPE has moved no element and looks again. Of several timers with the same time the first
 * in the random order fires.
 *
 * Exactly one case is done, because there is one wait. All places carry the same parker and ticket.
 * A partner must win the compare-and-swap on the parker's word before it serves a place (parker.h).
 * Another sender, the deadline and a cancellation claim the same word; the losers leave this select
 * alone. The winner marks its place as served under the lock of that place's channel, and the
 * select takes that lock before it reads the mark.
 *
 * No event is lost between "nothing is ready" and "waiting". A place is joined under the channel's
 * lock, and only if the case is still not ready. A partner that came before is seen; one that comes
 * later finds the place.
 *
 * If a case is ready, the select first retracts its wait. If that fails, a place that was already
 * joined has been served, and that is the outcome. If it succeeds, the select leaves all places and
 * looks again.
 *
 * So a select never joins with two locks held, and never offers itself while it claims a partner.
 * Of two selects that match each other, the later one claims the earlier. A select that must not
 * wait looks at all channels at one moment before it reports that (select_at_once.c).
 *
 * An edge of a descriptor claims the same word, but it is only a hint: the select looks again. A
 * caller that blocks its thread polls its descriptors itself with poll(2), because the poller may
 * not be polled by any other thread (thread_wait.c). Before the first runtime has started there is only
 * poll(2).
 *
 * The loop ends. Each repetition means that another thread made progress, or timed out in a place
 * that the next look removes. Two selects that join two channels in opposite orders may see each
 * other and both retract. Each then draws a new order, so this repeats with probability 1/2 at
 * most.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <fiber/chan.h>
#include <fiber/fiber.h>
#include <fiber/time.h>

#include "base/atomic.h"
#include "base/check.h"
#include "choice.h"
#include "fault.h"
#include "os/os.h"
#include "sched/sched.h"
#include "sync/chan.h"
#include "sync/select.h"
#include "sync/selection.h"
#include "wait/thread_wait.h"

static const struct fib_fd_ops *_Atomic fd_ops;

void fib_select_serve_fds(const struct fib_fd_ops *ops)
{
	/* ops points to constants, so no ordering is needed. */
	fib_store(&fd_ops, ops);
}

static int look_alone(int fd, short events, struct fib_select_fd_place *place)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n = fd < 0 ? -EBADF : fib_os_poll(&p, 1, 0);

	(void)place;
	if (n <= 0)
		return n;
	return p.revents & POLLNVAL ? -EBADF : p.revents;
}

static int join_alone(int fd, short events, struct fib_select_fd_place *place)
{
	(void)fd;
	(void)events;
	(void)place;
	return 0;
}

static void leave_alone(int fd, short events, struct fib_select_fd_place *place)
{
	join_alone(fd, events, place);
}

/* Used before a runtime has started: there is no other source of events. */
static const struct fib_fd_ops alone = {look_alone, join_alone, leave_alone};

/* Do a case if that needs no waiting. now: the time, if there is a timer case. */
static bool look_at(struct fib_selection *s, uint32_t at, int64_t now)
{
	struct fiber_select_case *c = &s->cases[at];
	int rc;

	switch (c->op) {
	case FIBER_SELECT_TIMER:
		if (c->at > now)
			return false;
		c->result = 0;
		return true;
	case FIBER_SELECT_FD:
		rc = s->ops->look(c->fd, c->events, &s->places[at].fd);
		if (rc)
			c->result = rc;
		return rc != 0;
	default:
		/* With several cases a look without the lock is enough, see select_at_once.c. */
		if (!c->chan || (s->count > 1 && !fib_chan_promising(c->chan, fib_case_side(c))))
			return false;
		return fib_chan_try(c->chan, fib_case_side(c), c->elem, &c->result);
	}
}

/* Do the first case in turn that needs no waiting. Returns its index, or -1. */
static int look(struct fib_selection *s)
{
	int64_t now = s->timer >= 0 ? fiber_now() : 0;
	uint32_t i, at;

	for (i = 0; i < s->count; i++) {
		at = s->places[i].turn;
		if (look_at(s, at, now))
			return (int)at;
	}
	return -1;
}

/* Call before the first place is queued: from then on partners claim the wait. */
static void copy_wait(struct fib_selection *s)
{
	struct fib_select_place *place;
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		place = &s->places[i];
		if (s->cases[i].op == FIBER_SELECT_FD) {
			place->fd.w[0] = place->fd.w[1] = s->wait;
		} else {
			place->chan.w = s->wait;
			place->chan.elem = s->cases[i].elem;
		}
	}
}

/*
 * 0: joined, or nothing to join; -EAGAIN: the case is ready; or an error, which the case reports.
 */
static int join_one(struct fib_selection *s, struct fiber_select_case *c,
		    struct fib_select_place *place)
{
	if (c->op == FIBER_SELECT_FD)
		return s->ops->join(c->fd, c->events, &place->fd);
	if (!fib_case_has_channel(c))
		return 0;
	return fib_chan_join(c->chan, fib_case_side(c), &place->chan) ? 0 : -EAGAIN;
}

/*
 * Join the queues of the cases in turn, up to the first that is ready or fails. Returns the number
 * joined. *ret_error: the error of the case after them, or 0.
 */
static uint32_t join_each(struct fib_selection *s, int *ret_error)
{
	uint32_t i, at;
	int rc;

	*ret_error = 0;
	copy_wait(s);
	for (i = 0; i < s->count; i++) {
		at = s->places[i].turn;
		rc = join_one(s, &s->cases[at], &s->places[at]);
		if (rc < 0) {
			*ret_error = rc == -EAGAIN ? 0 : rc;
			break;
		}
	}
	return i;
}

/*
 * Leave the queues of the first n cases in turn. Returns the index of the served channel case, or
 * -1.
 */
static int leave_each(struct fib_selection *s, uint32_t n)
{
	struct fiber_select_case *c;
	struct fib_select_place *place;
	int served = -1;
	uint32_t i, at;

	for (i = 0; i < n; i++) {
		at = s->places[i].turn;
		c = &s->cases[at];
		place = &s->places[at];
		if (c->op == FIBER_SELECT_FD)
			s->ops->leave(c->fd, c->events, &place->fd);
		else if (fib_case_has_channel(c) &&
			 fib_chan_leave(c->chan, fib_case_side(c), &place->chan))
			served = (int)at;
	}
	return served;
}

/* The wait timed out: returns the index of the timer, or -ETIMEDOUT if the deadline comes first. */
static int time_out(struct fib_selection *s, int64_t deadline)
{
	if (s->timer < 0 || s->cases[s->timer].at > deadline)
		return -ETIMEDOUT;
	s->cases[s->timer].result = 0;
	return s->timer;
}

static struct fiber_chan *first_channel(struct fib_selection *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (fib_case_has_channel(&s->cases[i]))
			return s->cases[i].chan;
	return NULL;
}

/*
 * Prepare what a blocking thread sleeps on: all descriptors. Kept for later rounds. 0 or an error.
 */
static int make_thread_wait(struct fib_selection *s)
{
	struct pollfd *p;
	uint32_t i;
	int rc;

	if (s->thread_wait.fds)
		return 0;
	p = s->thread_wait.fds = calloc(s->fds + 1, sizeof *p);
	if (!p)
		return -ENOMEM;
	for (i = 0; i < s->count; i++)
		if (s->cases[i].op == FIBER_SELECT_FD)
			*++p = (struct pollfd){.fd = s->cases[i].fd, .events = s->cases[i].events};
	s->thread_wait.count = s->fds + 1;
	rc = fib_thread_wait_make(&s->thread_wait);
	if (rc < 0) {
		free(s->thread_wait.fds);
		s->thread_wait.fds = NULL;
	}
	return rc;
}

/* Free it at the end of the select. */
static void free_thread_wait(struct fib_selection *s)
{
	if (s->thread_wait.fds)
		fib_thread_wait_free(&s->thread_wait);
	free(s->thread_wait.fds);
}

/* After a wake-up. Returns the index of the served case; -EAGAIN: look again; or an error. */
static int find_served(struct fib_selection *s, int served)
{
	int result;

	if (served < 0) {
		fib_check(s->fds);
		return s->thread_wait.fds && s->thread_wait.failed ? s->thread_wait.failed
								   : -EAGAIN;
	}
	result = s->places[served].chan.result;
	/* No element was moved, and the channel's other cases are ready as well. */
	if (result == -EPIPE)
		return -EAGAIN;
	s->cases[served].result = result;
	return served;
}

/*
 * The select must not wait; rc says why. Separate looks at each case may have missed an element
 * that moved (select_at_once.c).
 */
static int look_again(struct fib_selection *s, int rc, int64_t deadline)
{
	int at = s->count > 1 ? fib_select_look_at_once(s) : -1;

	if (at >= 0)
		return at;
	return rc == -ETIMEDOUT ? time_out(s, deadline) : rc;
}

/*
 * Wait in all places. Returns the index of the case that was served or failed; -EAGAIN: look again;
 * or an error.
 */
static int wait_for_any(struct fib_selection *s, int64_t deadline)
{
	int rc, error, served;
	uint32_t joined, at;
	bool watches;

	rc = fib_wait_begin(&s->wait, FIB_WAIT_SELECT, first_channel(s),
			    s->count | (uint64_t)s->fds << 32, s->limit);
	if (rc < 0)
		return look_again(s, rc, deadline);
	watches = s->fds && s->wait.parker->blocks;
	rc = watches ? make_thread_wait(s) : 0;
	if (rc < 0) {
		fib_wait_abort(&s->wait);
		return rc;
	}
	joined = join_each(s, &error);
	if (joined < s->count && fib_wait_retract(&s->wait)) {
		leave_each(s, joined);
		if (!error) {
			fib_select_draw_turns(s); /* see above: two selects in step */
			return -EAGAIN;
		}
		at = s->places[joined].turn;
		s->cases[at].result = error;
		return (int)at;
	}
	rc = watches ? fib_wait_with_fds(&s->wait, s->limit, &s->thread_wait)
		     : fib_wait(&s->wait, s->limit);
	served = leave_each(s, joined);
	if (rc < 0)
		return rc == -ETIMEDOUT ? time_out(s, deadline) : rc;
	return find_served(s, served);
}

static int select_loop(struct fib_selection *s, int64_t deadline)
{
	int rc;

	do {
		rc = look(s);
		if (rc < 0)
			rc = wait_for_any(s, deadline);
	} while (rc == -EAGAIN);
	return rc;
}

/* Check the cases, after the turns are drawn and before anything is done: 0 or -EINVAL. */
static int prepare(struct fib_selection *s, int64_t deadline)
{
	struct fiber_select_case *c;
	uint32_t i, at;

	s->ops = fib_load(&fd_ops);
	if (!s->ops)
		s->ops = &alone;
	s->thread_wait.fds = NULL;
	s->timer = -1;
	s->limit = deadline;
	for (i = 0; i < s->count; i++) {
		at = s->places[i].turn;
		c = &s->cases[at];
		if ((unsigned)c->op > FIBER_SELECT_FD)
			return -EINVAL;
		if (c->op == FIBER_SELECT_FD) {
			s->fds++;
			s->places[at].fd.looked = false;
			if (!c->events)
				return -EINVAL;
		}
		if (c->op != FIBER_SELECT_TIMER)
			continue;
		if (s->timer < 0 || c->at < s->cases[s->timer].at)
			s->timer = (int)at;
		if (c->at < s->limit)
			s->limit = c->at;
	}
	return 0;
}

/* Allocate memory for many cases. False: out of memory. */
static bool make_places(struct fib_selection *s)
{
	s->places = calloc(s->count, sizeof *s->places + sizeof *s->locks);
	s->locks = (struct fiber_chan **)(void *)(s->places + s->count);
	return s->places;
}

int fiber_select(struct fiber_select_case *cases, size_t n, int64_t deadline)
{
	struct fib_select_place few[FIB_SELECT_FEW];
	struct fib_selection s;
	int rc;

	fib_choice(cases);
	if (n == 0 || n > INT_MAX)
		return -EINVAL;
	fib_must_have(cases, "the array of cases");
	s.cases = cases;
	s.places = few;
	s.locks = NULL;
	s.count = (unsigned)n;
	s.fds = 0;
	if (n > FIB_SELECT_FEW && (fib_fault(MEMORY) < 0 || !make_places(&s)))
		return -ENOMEM;
	fib_select_draw_turns(&s);
	rc = prepare(&s, deadline);
	if (rc == 0) {
		rc = select_loop(&s, deadline);
		free_thread_wait(&s);
	}
	if (s.places != few)
		free(s.places);
	return rc;
}
