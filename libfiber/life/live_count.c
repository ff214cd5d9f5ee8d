/* SPDX-License-Identifier: MIT */
/*
 * live_count.c - how many fibers there are, counted without a common counter
 *
 * Fibers come and go tens of millions of times a second, and who finishes a runtime wants to know one thing:
 * when none is left. So each carrier counts for itself how many fibers were spawned on it and how many ended on
 * it, in words that nobody else writes and that only grow.
 *
 * The rule: read what has ended first, then what was spawned. A fiber is counted in before anybody can see it, and
 * out when it is done, so at any moment `ended` is at most `spawned`. The first sum is not above what had ended
 * when its reading was over, the second not below what had been spawned at that moment: when they are
 * equal, no fiber was left at that moment (pairs: live_count.count).
 *
 * Only fibers spawn, so what was empty stays empty, but for submissions from outside. Those, and what
 * background fibers and idle hooks submit, are counted in one word of the scheduler, which is also closed:
 * the swap to "closed" succeeds only if nobody submitted since it was read.
 *
 * Who waits for the end says so and looks; a carrier that comes by its idle context, or goes from a fiber's end to a
 * background fiber, fences, looks whether anybody waits, and counts. One of the two sees the other (pairs: live_count.told).
 */
#include "life/live_count.h"

#include <errno.h>

#include "os/os.h"
#include "sched/sched.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define CLOSED (UINT64_C(1) << 63)

/* Whether the caller is a fiber that keeps s alive, and so sees it open. */
static struct fib_carrier *counting_carrier(struct fib_sched *s, unsigned flags)
{
	struct fib_carrier *c = fib_carrier_self();

	if (!c || c->sched != s || !c->current || ((flags | c->current->flags) & FIBER_BACKGROUND))
		return NULL;
	return c;
}

/* In the word that can be closed. */
static int enter_from_outside(struct fib_sched *s, unsigned flags)
{
	uint64_t word = fib_load(&s->submitted);

	/* Counted first: who closes s after this looks here, too, before it is finished. */
	if (flags & FIBER_BACKGROUND)
		fib_add(&s->background_live, 1);
	for (;;) {
		uint64_t more = flags & FIBER_BACKGROUND ? word : word + 1;

		if (word & CLOSED) {
			if (flags & FIBER_BACKGROUND)
				fib_sub(&s->background_live, 1);
			return -ESHUTDOWN;
		}
		if (!fib_cas(&s->submitted, &word, more))
			continue;
		if (flags & FIBER_BACKGROUND)
			fib_add_relaxed(&s->background_in, 1);
		return 0;
	}
}

int fib_live_enter(struct fib_sched *s, unsigned flags)
{
	struct fib_carrier *c = counting_carrier(s, flags);

	if (!c)
		return enter_from_outside(s, flags);
	fib_live_raise(&c->spawned);
	return 0;
}

static void notify(struct fib_sched *s)
{
	struct fib_wake_list list = {NULL, NULL};

	fib_add(&s->ended, 1);
	fib_os_futex_wake(&s->ended, INT32_MAX);
	fib_queue_lock(&s->finishers);
	fib_queue_claim_all(&s->finishers, &list);
	fib_queue_unlock(&s->finishers);
	fib_wake_all(&list);
}

void fib_live_withdraw(struct fib_sched *s, unsigned flags)
{
	struct fib_carrier *c = counting_carrier(s, flags);

	if (c)
		fib_live_raise(&c->ended);
	else if (flags & FIBER_BACKGROUND) {
		fib_add(&s->background_out, 1); /* label: live_count.count */
		fib_sub(&s->background_live, 1);
	} else {
		fib_sub(&s->submitted, 1);
	}
	notify(s);
}

void fib_live_leave_background(struct fib_sched *s)
{
	/* label: live_count.count -- who sees it counted out sees that it was counted in. */
	fib_add(&s->background_out, 1);
	if (fib_sub(&s->background_live, 1) == 1)
		notify(s);
}

/* What has ended. */
static uint64_t count_out(struct fib_sched *s)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		/* pairs: live_count.count -- who was counted out here was counted in before. */
		n += fib_load_acquire(&s->carriers[i].ended);
	return n;
}

/* What was spawned by carriers; `submitted` is to be added. After count_out. */
static uint64_t count_in(struct fib_sched *s)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		n += fib_load_acquire(&s->carriers[i].spawned);
	return n;
}

bool fib_live_none(struct fib_sched *s)
{
	uint64_t ended = count_out(s), spawned = count_in(s);

	return ended == spawned + (fib_load_acquire(&s->submitted) & ~CLOSED);
}

uint64_t fib_live_count(struct fib_sched *s)
{
	uint64_t ended = count_out(s), spawned = count_in(s);

	return spawned + (fib_load(&s->submitted) & ~CLOSED) - ended +
	       fib_load(&s->background_live);
}

void fib_live_totals(struct fib_sched *s, uint64_t *ret_spawned, uint64_t *ret_ended)
{
	/* pairs: live_count.count */
	*ret_ended = fib_load_acquire(&s->background_out) + count_out(s);
	*ret_spawned =
		count_in(s) + (fib_load(&s->submitted) & ~CLOSED) + fib_load(&s->background_in);
}

bool fib_close(struct fib_sched *s)
{
	uint64_t ended = count_out(s), spawned = count_in(s);
	uint64_t word = fib_load_acquire(&s->submitted);

	if ((word & CLOSED) || ended != spawned + word)
		return false;
	return fib_cas(&s->submitted, &word, word | CLOSED);
}

bool fib_closed(struct fib_sched *s)
{
	return fib_load_acquire(&s->submitted) & CLOSED;
}

static bool nobody(struct fib_sched *s, bool all)
{
	return fib_live_none(s) && (!all || fib_load_acquire(&s->background_live) == 0);
}

/* Until `ended` is no longer what was seen: 0, or an error. A fiber, of another runtime, parks. */
static int await_move(struct fib_sched *s, uint32_t seen, int64_t deadline)
{
	struct fib_waiter w;
	bool moved;
	int rc;

	if (!fiber_self())
		return fib_os_futex_wait(&s->ended, seen, deadline) == -ETIMEDOUT ? -ETIMEDOUT : 0;
	rc = fib_wait_begin(&w, FIB_WAIT_OP, s->runtime, 0, deadline);
	if (rc < 0)
		return rc;
	fib_queue_lock(&s->finishers);
	moved = fib_load_acquire(&s->ended) != seen;
	if (!moved)
		fib_queue_append(&s->finishers, &w);
	fib_queue_unlock(&s->finishers);
	if (!moved)
		return fib_queue_wait(&s->finishers, &w, deadline);
	fib_wait_abort(&w);
	return 0;
}

int fib_live_await(struct fib_sched *s, bool all, int64_t deadline)
{
	int rc = 0;

	fib_add(&s->awaited, 1);
	for (;;) {
		uint32_t seen = fib_load_acquire(&s->ended);

		/* label: live_count.told -- waiting is said before the count is read. */
		fib_fence_seq();
		if (nobody(s, all)) {
			rc = 0;
			break;
		}
		if (rc < 0)
			break;
		rc = await_move(s, seen, deadline);
	}
	fib_sub(&s->awaited, 1);
	return rc;
}

void fib_live_notify(struct fib_sched *s)
{
	/* pairs: live_count.told -- what ended here is counted before `awaited` is read. */
	fib_fence_seq();
	if (fib_load(&s->awaited) && fib_live_none(s))
		notify(s);
}
