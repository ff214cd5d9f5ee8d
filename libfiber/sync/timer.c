/* SPDX-License-Identifier: MIT */
/*
 * timer.c - a one-shot or periodic timer that fibers wait for
 *
 * A timer is four numbers and a wait queue. Expirations are not counted as they happen: their
 * number follows from the clock, the first deadline and the period. So a periodic timer cannot
 * drift, and an armed timer without waiters costs nothing.
 *
 * A waiter uses the timer's next expiration as the deadline of its own wait, in its carrier's heap.
 * Arming the timer again wakes the waiters through the queue, and they wait for the new expiration.
 *
 * The rule: an expiration belongs to every caller that waits when it comes. Expirations that come
 * while there is no waiter belong to the next caller that waits. To implement this, expirations are
 * numbered across all armings: arming adds those of the previous arming to `past`. A waiter
 * remembers the number at its arrival (`seen`) and gets all later ones, even if the timer is armed
 * again before the waiter runs.
 *
 * `reported` is the number of the last expiration that was given to a waiter or dropped by arming. A
 * new waiter starts from `reported` if no other waiter is inside. If one is, it starts from the current
 * number: the earlier expirations belong to the other waiter, which may not have run yet.
 *
 * The clock is read under the lock, so successive readers never see the number of expirations
 * decrease. Arming reads no clock if no waiter is inside: the expirations since `reported` are
 * dropped, however many there are. A caller that has looked and is not queued yet loses none that
 * it could know of: it is as if it had called later. Its `seen` is not above `reported`.
 */
#include <errno.h>
#include <stdlib.h>

#include <fiber/sync.h>
#include <fiber/time.h>

#include "base/check.h"
#include "choice.h"
#include "fault.h"
#include "order.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* L under waiters.lock */
struct fiber_timer {
	char name[32];
	int64_t first;	   /* L: FIBER_FOREVER: not armed */
	int64_t period;	   /* L: 0: one-shot */
	uint64_t past;	   /* L: expirations of the armings before this one */
	uint64_t reported; /* L: the last expiration that was given or dropped */
	uint32_t inside;   /* L: waiters that were queued and will call look() again */
	struct fiber_wait_queue waiters;
};

/* L under the timer's lock */
struct waiter {
	struct fib_waiter node;
	uint64_t seen;	/* L: expirations up to this one are not for this waiter */
	uint64_t given; /* L: how many are for this waiter */
	bool came;	/* L: seen is set */
	bool inside;	/* L: counted in the timer's inside */
};

int fiber_timer_new(struct fiber_timer **ret)
{
	struct fiber_timer *t = fib_fault(MEMORY) < 0 ? NULL : calloc(1, sizeof *t);

	fib_must_have(ret, "ret");
	if (!t)
		return -ENOMEM;
	t->first = FIBER_FOREVER;
	*ret = t;
	return 0;
}

/*
 * Expirations since the timer was armed. Under the lock. Distances are unsigned, because a deadline
 * may be any number.
 */
static uint64_t count(const struct fiber_timer *t, int64_t now)
{
	if (t->first == FIBER_FOREVER || now < t->first)
		return 0;
	if (!t->period)
		return 1;
	return ((uint64_t)now - (uint64_t)t->first) / (uint64_t)t->period + 1;
}

/* Returns the time of the first expiration after now. Under the lock. */
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

/* Arm the timer, unless a waiter is inside, which may get expirations of the arming before. */
static inline bool arm_without_waiters(struct fiber_timer *t, int64_t first, int64_t period)
{
	const uint32_t section = fib_queue_enter(&t->waiters);
	const bool alone = !t->inside;

	if (alone) {
		t->past = t->reported;
		t->first = first;
		t->period = period;
	}
	fib_queue_leave(&t->waiters, section);
	return alone;
}

int fiber_timer_arm(struct fiber_timer *t, int64_t first, int64_t period)
{
	uint32_t waiting;

	fib_choice(t);
	fib_must_have(t, "the timer");
	if (period < 0)
		return -EINVAL;
	fib_order_release(t);
	if (fib_likely(arm_without_waiters(t, first, period)))
		return 0;
	fib_queue_lock(&t->waiters);
	t->past += count(t, fiber_now());
	t->reported = t->past;
	t->first = first;
	t->period = period;
	waiting = fib_queue_length(&t->waiters);
	fib_queue_unlock(&t->waiters);
	while (waiting-- && fib_queue_wake_one(&t->waiters))
		;
	return 0;
}

/*
 * Compute what w gets now. True: w->given is set. False: *ret_next is the next expiration; with
 * `queue`, w has joined the queue, to be woken when the timer is armed again. w's wait must be
 * armed then.
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

/* Wait for the expiration or for a new arming. 0: call look() again. */
static int wait_for_expiration(struct fiber_timer *t, struct waiter *w, int64_t expiration,
			       int64_t deadline)
{
	int rc = fib_wait_begin(&w->node, FIB_WAIT_TIMER, t, 0, earlier(expiration, deadline));

	if (rc == 0) {
		if (look(t, w, true, &expiration)) {
			fib_wait_abort(&w->node);
			return 0;
		}
		/* expiration may have changed since the wait record was written. */
		rc = fib_queue_wait(&t->waiters, &w->node, earlier(expiration, deadline));
	}
	/* -ETIMEDOUT means the expiration, unless the caller's deadline has passed too. */
	return rc == -ETIMEDOUT && fiber_now() < deadline ? 0 : rc;
}

int fiber_timer_wait(struct fiber_timer *t, uint64_t *ret_expirations, int64_t deadline)
{
	struct waiter w = {0};
	int64_t expiration;
	bool given;
	int rc = 0;

	fib_choice(t);
	fib_must_have(t, "the timer");
	given = look(t, &w, false, &expiration);
	while (!given && rc == 0) {
		rc = wait_for_expiration(t, &w, expiration, deadline);
		/* Also after an error, so that an expiration is not lost. */
		given = look(t, &w, false, &expiration);
	}
	if (!given)
		return rc;
	fib_order_acquire(t);
	if (ret_expirations)
		*ret_expirations = w.given;
	return 0;
}

void fiber_timer_free(struct fiber_timer *t)
{
	uint32_t inside;

	fib_choice(t);
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
