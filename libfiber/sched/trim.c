/* SPDX-License-Identifier: MIT */
/*
 * trim.c - give back the part of a stack that its fiber has used and left again
 *
 * Below its saved stack pointer a suspended fiber has nothing. A server's fiber that waits for its
 * next request has often been some pages deeper while it answered the last one.
 *
 * The problem: the fiber may be woken at any moment, and a page that is dropped while the fiber writes
 * to it is lost. A lock would cost each switch. So the carriers of a runtime with the option make
 * passes over the registry, and mark some stacks at a time:
 *
 *   pass:    mark the stacks, set `marks`, membarrier(2); for each: claim the mark, read seq again,
 *            drop the pages if it has not changed, erase the mark
 *   switch:  make the fiber's seq odd, read `marks`; if set, take back the mark, or wait until it is
 *            erased
 *
 * Race (trim.gap): the switch stores seq and then reads `marks`, without a fence. The pass stores
 * `marks`, and membarrier(2) executes a fence in all threads. A switch that was before its fence in
 * both is seen by the pass, which drops nothing. A switch that reads `marks` after its fence sees the
 * mark. tests/unit/sched/test_trim_model.c.
 *
 * A switch waits for one call of madvise(2) at most, and only if its fiber is woken during it.
 *
 * A pass concerns the waits that began in a certain time: those before were those of the pass before.
 * A carrier that sleeps after it has run fibers wakes once more for them.
 */
#include "sched/trim.h"

#include "core/registry.h"
#include "os/os.h"
#include "sched/sched.h"
#include "stack/pool.h"

#define PORTION 128u /* records between two looks for work */

#define BUSY ((uintptr_t)1)

/* A field that its owner may write at this moment, without an atomic store. */
#define look(field) (*(const volatile __typeof__(field) *)&(field))

fib_unwatched bool fib_suspended_read(struct fiber *fiber, struct fib_suspended *ret)
{
	ret->fiber = fiber;
	ret->id = fib_observe(&fiber->id);
	ret->seq = fib_load_acquire(&fiber->seq); /* pairs: record.seq */
	if (!ret->id || !ret->seq || (ret->seq & 1) || fib_load(&fiber->state) != FIBER_SUSPENDED ||
	    look(fiber->stack.class) == FIB_STACK_FOREIGN)
		return false;
	ret->since = fib_load(&fiber->since);
	ret->low = (uint64_t)(uintptr_t)look(fiber->stack.low);
	ret->top = ret->low + look(fiber->stack.size);
	ret->sp = (uint64_t)look(fiber->context.sp);
	ret->sched = look(fiber->sched);
	ret->flags = look(fiber->flags);
	ret->carrier = look(fiber->carrier);
	fib_fence_acquire(); /* pairs: record.seq */
	return ret->low && ret->sp > ret->low && ret->sp <= ret->top &&
	       fib_load(&fiber->seq) == ret->seq && fib_observe(&fiber->id) == ret->id;
}

static uint64_t unused_end(const struct fib_suspended *suspended)
{
	return (suspended->sp - FIB_FRAME_RED_ZONE) & ~((uint64_t)fib_os_page_size() - 1);
}

size_t fib_suspended_trim(const struct fib_suspended *suspended)
{
	const uint64_t end = unused_end(suspended);

	return end > suspended->low ? fib_os_give_back(suspended->low, end - suspended->low) : 0;
}

void fib_trim_await(struct fib_trim *trim, const struct fiber *fiber)
{
	const uintptr_t mark = (uintptr_t)fiber;
	unsigned i;

	for (i = 0; i < FIB_TRIM_AT_ONCE; i++) {
		uintptr_t expected = mark;

		if ((fib_load(&trim->marked[i]) & ~BUSY) != mark)
			continue;
		if (fib_cas(&trim->marked[i], &expected, 0))
			return;
		/* pairs: trim.done */
		while (fib_load_acquire(&trim->marked[i]) == (mark | BUSY))
			fib_os_yield();
	}
}

/* Find up to FIB_TRIM_AT_ONCE stacks in the next portion of the registry, and mark them. */
static unsigned mark_some(struct fib_trim *t, const struct fib_sched *s,
			  struct fib_suspended found[FIB_TRIM_AT_ONCE])
{
	const size_t records = fib_registry_committed();
	size_t end = t->next + PORTION;
	unsigned n = 0;

	for (end = end < records ? end : records; t->next < end && n < FIB_TRIM_AT_ONCE;
	     t->next++) {
		struct fib_suspended *const at = &found[n];

		if (!fib_suspended_read(fib_registry_at(t->next), at) || at->sched != s ||
		    at->since <= t->from || at->since > t->until || unused_end(at) <= at->low)
			continue;
		fib_store(&t->marked[n++], (uintptr_t)at->fiber);
	}
	t->unfinished = t->next < records;
	return n;
}

static void trim_marked(_Atomic uintptr_t *mark, const struct fib_suspended *suspended)
{
	struct fiber *const fiber = suspended->fiber;
	uintptr_t expected = (uintptr_t)fiber;

	if (!fib_cas(mark, &expected, expected | BUSY))
		return; /* it runs */
	/* pairs: trim.gap */
	if (fib_load_seq(&fiber->seq) == suspended->seq && fib_observe(&fiber->id) == suspended->id)
		fib_os_discard((void *)(uintptr_t)suspended->low,
			       unused_end(suspended) - suspended->low);
	/* label: trim.done -- what the fiber writes from now on stays. */
	fib_store_release(mark, 0);
}

static void make_portion(struct fib_trim *t, const struct fib_sched *s)
{
	struct fib_suspended found[FIB_TRIM_AT_ONCE];
	const unsigned n = mark_some(t, s, found);
	unsigned i;

	if (!n)
		return;
	/* label: trim.gap -- the marks, and then the fence of all carriers before seq is read. */
	fib_store_seq(&t->marks, 1);
	if (fib_os_barrier() == 0) {
		for (i = 0; i < n; i++)
			trim_marked(&t->marked[i], &found[i]);
	} else {
		for (i = 0; i < n; i++)
			fib_store(&t->marked[i], 0);
	}
	fib_store_release(&t->marks, 0);
}

/* Begin a pass if one is due. The caller has t->passing. */
static void begin(struct fib_trim *t, int64_t now)
{
	if (now - fib_load(&t->begun) < t->after)
		return;
	fib_store(&t->begun, now);
	t->from = t->until;
	t->until = now - t->after;
	t->next = 0;
	t->unfinished = true;
}

bool fib_trim_pass(struct fib_carrier *c)
{
	struct fib_trim *t = &c->sched->trim;
	uint32_t free = 0;
	bool more;

	if (fib_load(&t->passing) || !fib_cas(&t->passing, &free, 1))
		return false;
	if (!t->unfinished) {
		begin(t, fib_coarse_now());
		if (t->unfinished && c->trims_at <= fib_load(&t->begun))
			c->trims_at = INT64_MAX;
	}
	if (t->unfinished)
		make_portion(t, c->sched);
	more = t->unfinished;
	/* label: trim.pass -- the next carrier that makes a part sees what this one did. */
	fib_store_release(&t->passing, 0);
	return more;
}

int64_t fib_trim_due(struct fib_carrier *c)
{
	const struct fib_trim *t = &c->sched->trim;
	const int64_t next = fib_load(&t->begun) + t->after;

	if (c->has_run) {
		c->has_run = false;
		c->trims_at = fib_coarse_now() + t->after;
	}
	return c->trims_at > next ? c->trims_at : next;
}
