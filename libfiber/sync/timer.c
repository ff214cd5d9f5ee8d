/* SPDX-License-Identifier: MIT */
/*
 * timer.c - an expiration that can be waited for, moved, and repeated
 *
 * A timer is four numbers and a wait queue. Nothing counts its expirations while nobody looks: how many there
 * have been since it was armed follows from the clock, the first deadline and the period, so a periodic timer
 * cannot drift, and an armed timer that nobody waits for costs nothing.
 *
 * Whoever waits does so with the timer's next expiration as the deadline of its own wait, in the heap of
 * its own carrier. Arming anew wakes the waiters by the queue, and they wait for the new expiration.
 *
 * The rule: an expiration belongs to everybody who waits when it comes, and those that come while nobody waits
 * belong to the next one who does. So expirations are numbered through all armings: whoever arms anew adds what had
 * come by then to `past`, a waiter remembers how many there were when it came, and has waited for all that come
 * after, however often the timer is armed before it runs again. `reported` is the last one that is nobody's to come for: that
 * was given to somebody, or forgotten by arming anew. While somebody waits the next one to come finds none: they
 * are that waiter's, though it may not have run yet.
 *
 * The clock is read under the lock, so the number of expirations only grows for those who read it one after
 * another.
 */
#include <errno.h>
#include <stdlib.h>

#include <fiber/sync.h>
#include <fiber/time.h>

#include "base/check.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* L under waiters.lock */
struct fiber_timer {
	char name[32];
	int64_t first;	   /* L: FIBER_FOREVER: not armed */
	int64_t period;	   /* L: 0: one-shot */
	uint64_t past;	   /* L: expirations of the armings before this one */
	uint64_t reported; /* L: the first one that is kept comes after this */
	uint32_t inside;   /* L: those who stood in the line and will look at it again */
	struct fiber_wait_queue waiters;
};

/* L under the timer's lock */
struct waiter {
	struct fib_waiter node;
	uint64_t seen;	/* L: expirations that are not ours */
	uint64_t given; /* L: how many are */
	bool came;	/* L: seen is set */
	bool inside;	/* L: counted in the timer's inside */
};

int fiber_timer_new(struct fiber_timer **ret)
{
	struct fiber_timer *t = calloc(1, sizeof *t);

	fib_must_have(ret, "ret");
	if (!t)
		return -ENOMEM;
	t->first = FIBER_FOREVER;
	*ret = t;
	return 0;
}

/* Expirations since it was armed. Under the lock. Distances are unsigned: a deadline may be any number. */
static uint64_t count(const struct fiber_timer *t, int64_t now)
{
	if (t->first == FIBER_FOREVER || now < t->first)
		return 0;
	if (!t->period)
		return 1;
	return ((uint64_t)now - (uint64_t)t->first) / (uint64_t)t->period + 1;
}

/* The first expiration after now. Under the lock. */
static int64_t next(const struct fiber_timer *t, int64_t now)
{
	uint64_t rest;

	if (now < t->first)
		return t->first;
	if (!t->period)
		return FIBER_FOREVER;
	rest = (uint64_t)t->period - ((uint64_t)now - (uint64_t)t->first) % (uint64_t)t->period;
	return rest > (uint64_t)(FIBER_FOREVER - now) ? FIBER_FOREVER : now + (int64_t)rest;
}

int fiber_timer_arm(struct fiber_timer *t, int64_t first, int64_t period)
{
	uint32_t waiting;

	fib_must_have(t, "the timer");
	if (period < 0)
		return -EINVAL;
	fib_queue_lock(&t->waiters);
	t->past += count(t, fiber_now());
	t->reported = t->past;
	t->first = first;
	t->period = period;
	waiting = t->waiters.length;
	fib_queue_unlock(&t->waiters);
	while (waiting-- && fib_queue_wake_one(&t->waiters))
		;
	return 0;
}

/*
 * What w can have now. True with w->given set; else *ret_next is the next expiration, and w stands in the line
 * for a new arming where it is armed itself (queue).
 */
static bool look(struct fiber_timer *t, struct waiter *w, bool queue, int64_t *ret_next)
{
	int64_t now;
	uint64_t n;

	fib_queue_lock(&t->waiters);
	now = fiber_now();
	n = t->past + count(t, now);
	t->inside -= w->inside;
	w->inside = false;
	if (!w->came) {
		w->came = true;
		w->seen = t->inside ? n : t->reported;
	}
	w->given = n - w->seen;
	if (w->given)
		t->reported = n;
	*ret_next = next(t, now);
	if (!w->given && queue) {
		fib_queue_append(&t->waiters, &w->node);
		t->inside++;
		w->inside = true;
	}
	fib_queue_unlock(&t->waiters);
	return w->given > 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Wait for the expiration, or to hear of another. 0 when it is worth looking again. */
static int wait_for_expiration(struct fiber_timer *t, struct waiter *w, int64_t expiration,
			       int64_t deadline)
{
	int rc = fib_wait_begin(&w->node, FIB_WAIT_TIMER, t, 0, earlier(expiration, deadline));

	if (rc == 0) {
		if (look(t, w, true, &expiration)) {
			fib_wait_abort(&w->node);
			return 0;
		}
		/* Maybe another expiration than the wait record says, if it was armed just now. */
		rc = fib_queue_wait(&t->waiters, &w->node, earlier(expiration, deadline));
	}
	/* It was the expiration, unless the caller's own limit has passed too. */
	return rc == -ETIMEDOUT && fiber_now() < deadline ? 0 : rc;
}

int fiber_timer_wait(struct fiber_timer *t, uint64_t *ret_expirations, int64_t deadline)
{
	struct waiter w = {0};
	int64_t expiration;
	bool given;
	int rc = 0;

	fib_must_have(t, "the timer");
	given = look(t, &w, false, &expiration);
	while (!given && rc == 0) {
		rc = wait_for_expiration(t, &w, expiration, deadline);
		/* After an error too: what has come is not lost. */
		given = look(t, &w, false, &expiration);
	}
	if (!given)
		return rc;
	if (ret_expirations)
		*ret_expirations = w.given;
	return 0;
}

void fiber_timer_free(struct fiber_timer *t)
{
	uint32_t inside;

	if (!t)
		return;
	fib_queue_lock(&t->waiters);
	inside = t->inside;
	fib_queue_unlock(&t->waiters);
	if (inside)
		fib_die("fiber_timer_free: %s %llu frees timer \"%s\", which %u still wait for",
			fib_caller() & FIB_HOLDER_THREAD ? "thread" : "fiber",
			(unsigned long long)(fib_caller() & ~FIB_HOLDER_THREAD), t->name, inside);
	free(t);
}
