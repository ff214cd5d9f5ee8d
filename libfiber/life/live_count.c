/* SPDX-License-Identifier: MIT */
/*
 * live_count.c - count live fibers without a shared counter
 *
 * Fibers start and exit tens of millions of times a second, and a finishing runtime needs to know
 * only when none is left. So each carrier counts the fibers that were spawned on it and those that
 * exited on it, in words that only it writes and that only grow.
 *
 * The rule: read `ended` first, then `spawned`. A fiber is counted as spawned before any thread can
 * see it, and as ended when it is done, so at any moment ended <= spawned. The first sum is at most
 * what had ended when its reading was complete; the second is at least what had been spawned at
 * that moment. If they are equal, no fiber was left at that moment (pairs: live_count.count).
 *
 * Only fibers spawn, so an empty runtime stays empty, except for submissions from outside. Those,
 * and what background fibers and idle hooks submit, are counted in one word of the scheduler, which
 * also holds the closed bit: the swap to "closed" succeeds only if nothing was submitted since the
 * word was read.
 *
 * A caller that waits for the end first announces it and then counts. A carrier in its idle
 * context, or one that goes from an exited fiber to a background fiber, executes a fence, checks
 * whether a caller waits, and counts. At least one of the two sees the other (pairs:
 * live_count.told).
 */
#include "life/live_count.h"

#include <errno.h>

#include "core/registry.h"
#include "order.h"
#include "os/os.h"
#include "sched/sched.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define CLOSED (UINT64_C(1) << 63)

/*
 * The calling carrier if the caller is a fiber of s that keeps s alive, and so sees it open; else
 * NULL.
 */
static struct fib_carrier *counting_carrier(struct fib_sched *s, unsigned flags)
{
	struct fib_carrier *c = fib_carrier_self();

	if (!c || c->sched != s || !c->current || ((flags | c->current->flags) & FIBER_BACKGROUND))
		return NULL;
	return c;
}

/* Count in the word that can be closed. */
static int enter_from_outside(struct fib_sched *s, unsigned flags)
{
	uint64_t word = fib_load(&s->submitted);

	/*
	 * Counted first: a thread that closes s after this waits for this count before it finishes
	 * s.
	 */
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
	/*
	 * label: live_count.count -- a reader that sees the exit counted also sees the start
	 * counted.
	 */
	fib_add(&s->background_out, 1);
	if (fib_sub(&s->background_live, 1) == 1)
		notify(s);
}

/* Sum of the fibers that exited on carriers. */
static uint64_t count_out(struct fib_sched *s)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		/* pairs: live_count.count -- a fiber counted here is counted in count_in(). */
		n += fib_load_acquire(&s->carriers[i].ended);
	return n;
}

/* Sum of the fibers spawned by carriers; the caller adds `submitted`. After count_out(). */
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

/*
 * Wait until `ended` differs from seen. Returns 0 or an error. A fiber (of another runtime) parks.
 */
static int await_move(struct fib_sched *s, uint32_t seen, int64_t deadline)
{
	struct fib_waiter w;
	bool moved;
	int rc;

	if (!fiber_self()) {
		const bool waits = deadline == FIBER_FOREVER;

		if (waits)
			fib_registry_thread_waits(true);
		rc = fib_os_futex_wait(&s->ended, seen, deadline);
		if (waits)
			fib_registry_thread_waits(false);
		return rc == -ETIMEDOUT ? rc : 0;
	}
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

		/* label: live_count.told -- `awaited` is raised before the counts are read. */
		fib_fence_seq();
		if (nobody(s, all)) {
			fib_order_acquire(s);
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
	/* pairs: live_count.told -- exits on this carrier are counted before `awaited` is read. */
	fib_fence_seq();
	if (fib_load(&s->awaited) && fib_live_none(s))
		notify(s);
}
