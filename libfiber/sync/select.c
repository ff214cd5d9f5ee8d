/* SPDX-License-Identifier: MIT */
/*
 * select.c - the first of several channels, descriptors and points in time
 *
 * A select first looks at its cases one after another, in random order, and does the first that can be
 * done; so each of those that are ready is as likely as the others, and no channel can starve
 * another. If there is none it waits in all of its channels at once: one wait, many places to be found in.
 *
 * It joins their queues in the same random order. A partner claims the first place in the queue, so of
 * several cases of one channel each is as likely to fire as the others. Closing a channel makes all of its cases
 * ready and claims one place only: a select that is woken with -EPIPE has moved nothing and looks
 * again. Of several timers with the same time the first in the random order fires.
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
 * and look again from the start. So nobody joins with two locks held, or offers himself while he
 * claims another: of two selects that want each other, the one that comes second claims the first.
 * A select that may not wait looks at all channels at one moment before it says so (select_at_once.c).
 *
 * A descriptor's edge claims the same word, but it is only a hint: woken by one, we look again from the start.
 * Who blocks a thread looks at his descriptors himself, with poll(2), since perhaps nobody else looks at the
 * poller (thread_wait.c). Before the first runtime has started there is no io to ask at all, and poll(2) is all there is.
 *
 * Each turn of that loop means that somebody else has done something meanwhile, or has given up in a
 * place that the next look clears away. Two selects that join two channels in opposite orders may see each other
 * and take back their waits at the same moment. Each draws a new order then, so the next time they
 * do so with probability 1/2 at most, and that comes to an end.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <fiber/chan.h>
#include <fiber/fiber.h>
#include <fiber/time.h>

#include "base/atomic.h"
#include "base/check.h"
#include "os/os.h"
#include "sched/sched.h"
#include "sync/chan.h"
#include "sync/select.h"
#include "sync/selection.h"
#include "wait/thread_wait.h"

static const struct fib_fd_ops *_Atomic fd_ops;

void fib_select_serve_fds(const struct fib_fd_ops *ops)
{
	/* A constant: nothing else has to be seen with it. */
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

/* Without a runtime: nobody else can know anything about a descriptor. */
static const struct fib_fd_ops alone = {look_alone, join_alone, leave_alone};

/* Do a case if that needs no waiting. now: the time, where there is a timer. */
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
		/* One of several: a look without the lock will do, see above. */
		if (!c->chan || (s->count > 1 && !fib_chan_promising(c->chan, fib_case_side(c))))
			return false;
		return fib_chan_try(c->chan, fib_case_side(c), c->elem, &c->result);
	}
}

/* Look at one case after another, and do the first that can be done without waiting: its index, or -1. */
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

/* Before the first is in a queue: from then on others claim the wait. */
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

/* 0: joined, or there is nothing to join; -EAGAIN: it is ready; or an error, which the case reports. */
static int join_one(struct fib_selection *s, struct fiber_select_case *c,
		    struct fib_select_place *place)
{
	if (c->op == FIBER_SELECT_FD)
		return s->ops->join(c->fd, c->events, &place->fd);
	if (!fib_case_has_channel(c))
		return 0;
	return fib_chan_join(c->chan, fib_case_side(c), &place->chan) ? 0 : -EAGAIN;
}

/* Join the queues of the cases in their turn, up to one that is ready or the end. How many cases that were;
 * *ret_error: what is wrong with the one after them, else 0. */
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

/* Leave the queues of the first n cases in turn. The index of the channel's that was served, or -1. */
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

/* Time was up, for whichever comes first. */
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

/* What a thread that blocks sleeps on: every descriptor. Kept for the next turn. 0, or a negative error. */
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

/* The same, when the select is over. */
static void free_thread_wait(struct fib_selection *s)
{
	if (s->thread_wait.fds)
		fib_thread_wait_free(&s->thread_wait);
	free(s->thread_wait.fds);
}

/* Woken: the index of the case that was served; -EAGAIN: look again; or an error. */
static int find_served(struct fib_selection *s, int served)
{
	int result;

	if (served < 0) {
		fib_check(s->fds);
		return s->thread_wait.fds && s->thread_wait.failed ? s->thread_wait.failed
								   : -EAGAIN;
	}
	result = s->places[served].chan.result;
	/* Nothing was moved, and its channel's other cases are ready as well. */
	if (result == -EPIPE)
		return -EAGAIN;
	s->cases[served].result = result;
	return served;
}

/* It may not wait, which rc says. One look at each case may have missed what moved (select_at_once.c). */
static int look_again(struct fib_selection *s, int rc, int64_t deadline)
{
	int at = s->count > 1 ? fib_select_look_at_once(s) : -1;

	if (at >= 0)
		return at;
	return rc == -ETIMEDOUT ? time_out(s, deadline) : rc;
}

/* Wait in all places: the index of the case that was served or is wrong; -EAGAIN: look again; or an error. */
static int wait_for_any(struct fib_selection *s, int64_t deadline)
{
	int rc, error, served;
	uint32_t joined, at;
	bool watches;

	rc = fib_wait_begin(&s->wait, FIB_WAIT_SELECT, first_channel(s), s->count, s->limit);
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

/* What can be said before anything is done, once the turns are drawn: 0, -EINVAL. */
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

/* Memory for more than a few cases. False: there is none. */
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

	if (n == 0 || n > INT_MAX)
		return -EINVAL;
	fib_must_have(cases, "the array of cases");
	s.cases = cases;
	s.places = few;
	s.locks = NULL;
	s.count = (unsigned)n;
	s.fds = 0;
	if (n > FIB_SELECT_FEW && !make_places(&s))
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
