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
 * belong to the next one who does. So `told` says how many were given to anybody, a waiter remembers what
 * `told` was when it came, and whoever arms anew first tells the waiters what had come until then.
 */
#include <errno.h>
#include <stdlib.h>

#include <fiber/sync.h>
#include <fiber/time.h>

#include "base/check.h"
#include "sched/wait.h"

/* L under waiters.lock */
struct fiber_timer {
	char name[32];
	int64_t first;	 /* L: FIBER_FOREVER: not armed */
	int64_t period;	 /* L: 0: one-shot */
	uint64_t told;	 /* L: expirations of this arming that somebody was given */
	uint64_t arming; /* L: counts how often it was armed, from 1 */
	uint32_t inside; /* L: those who stood in the line and will look at it again */
	struct fiber_wait_queue waiters;
};

/* L under the timer's lock */
struct waiter {
	struct fib_waiter node;
	uint64_t arming; /* L: that `seen` counts in; 0: just came */
	uint64_t seen;	 /* L: expirations that are not ours any more */
	uint64_t given;	 /* L: expirations we waited for, of an arming that is gone */
	bool inside;	 /* L: counted in the timer's inside */
};

int fiber_timer_new(struct fiber_timer **ret)
{
	struct fiber_timer *t = calloc(1, sizeof *t);

	if (!t)
		return -ENOMEM;
	t->first = FIBER_FOREVER;
	t->arming = 1;
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

/* Give w what has come since it came, if it counts in this arming. Under the lock. */
static void tell(struct fiber_timer *t, struct waiter *w, uint64_t n)
{
	if (w->arming == t->arming && n > w->seen) {
		w->given += n - w->seen;
		w->seen = n;
		if (t->told < n)
			t->told = n;
	}
}

/* The waiter behind this one. Under the lock. */
static struct fib_waiter *after(struct fib_waiter *node)
{
	return node->link.next ? fib_container(node->link.next, struct fib_waiter, link) : NULL;
}

int fiber_timer_arm(struct fiber_timer *t, int64_t first, int64_t period)
{
	int64_t now = fiber_now();
	struct fib_waiter *node;
	uint64_t n;
	uint32_t waiting;

	if (period < 0)
		return -EINVAL;
	fib_queue_lock(&t->waiters);
	n = count(t, now);
	for (node = fib_queue_first(&t->waiters); node; node = after(node))
		tell(t, fib_container(node, struct waiter, node), n);
	t->first = first;
	t->period = period;
	t->told = 0;
	t->arming++;
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
	int64_t now = fiber_now();
	bool given;

	fib_queue_lock(&t->waiters);
	t->inside -= w->inside;
	w->inside = false;
	if (!w->arming) {
		w->arming = t->arming;
		w->seen = t->told;
	}
	if (w->arming != t->arming) {
		/* Armed while we waited: all that has come of it came while we waited. */
		w->arming = t->arming;
		w->seen = 0;
	}
	tell(t, w, count(t, now));
	given = w->given > 0;
	*ret_next = next(t, now);
	if (!given && queue) {
		fib_queue_append(&t->waiters, &w->node);
		t->inside++;
		w->inside = true;
	}
	fib_queue_unlock(&t->waiters);
	return given;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Wait for the expiration, or to hear of another. 0 when it is worth looking again. */
static int wait_once(struct fiber_timer *t, struct waiter *w, int64_t expiration, int64_t deadline)
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

	given = look(t, &w, false, &expiration);
	while (!given && rc == 0) {
		rc = wait_once(t, &w, expiration, deadline);
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
