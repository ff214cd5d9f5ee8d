/* SPDX-License-Identifier: MIT */
/*
 * recorder.c - record what the scheduler does while a recording is on
 *
 * A switch takes a few nanoseconds and must not become slower for a recorder that is off. So the
 * switch tests nothing new. One byte, `slow_switch`, beside data that a switch reads anyway, says
 * that a switch has extra work: a C++ exception in progress, or a recording. The carrier sets it
 * itself when it looks outside, so each carrier starts and stops recording a little later than
 * requested.
 *
 * Each carrier writes its own ring and shares nothing with others. All other threads share one
 * ring, under a lock that is held for a few stores.
 *
 * Rings stay mapped as long as the scheduler: a carrier may still be about to write after a stop.
 * So rings are reused, and rings of other sizes are kept. The service thread gives their memory
 * back piece by piece, because it has no time to do it at once.
 */
#include "sched/recorder.h"

#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "os/spin.h"
#include "sched/sched.h"
#include "ticks.h"

#define TRIM ((size_t)128 << 10) /* bytes at a time */

static inline uint64_t now(const struct fib_recorder *r)
{
	return fib_likely(r->ticks) ? fib_arch_ticks() : (uint64_t)fib_os_now();
}

uint64_t fib_recorder_time(const struct fib_recorder *r)
{
	return now(r);
}

/* -- on and off -- */

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static int make(struct fib_sched *s, unsigned events, struct fib_recorder **ret)
{
	const unsigned rings = s->carrier_count + 1;
	const size_t page = fib_os_page_size();
	const size_t head =
		round_up(sizeof(struct fib_recorder) + rings * sizeof(struct fib_event_ring), page);
	const size_t each = round_up(events * sizeof(struct fib_event_slot), page);
	struct fib_recorder *r;
	void *at;
	unsigned i;
	int rc = fib_os_map_stacks(head + rings * each, &at);

	if (rc < 0)
		return rc;
	r = at; /* zeroed */
	r->size = head + rings * each;
	r->events = events;
	r->rings = rings;
	r->ticks = fib_arch_ticks_even();
	for (i = 0; i < rings; i++) {
		r->ring[i].mask = events - 1;
		r->ring[i].slots = (void *)((char *)at + head + i * each);
	}
	*ret = r;
	return 0;
}

int fib_recorder_start(struct fib_sched *s, unsigned events)
{
	struct fib_recorder *r;
	unsigned i;
	int rc;

	if (fib_recorder_of(s))
		return -EBUSY;
	for (r = s->recorders; r && r->events != events; r = r->older)
		;
	if (!r) {
		rc = make(s, events, &r);
		if (rc < 0)
			return rc;
		r->older = s->recorders;
		s->recorders = r;
	}
	r->kept = r->size - (size_t)((char *)r->ring[0].slots - (char *)r);
	for (i = 0; i < r->rings; i++)
		fib_event_ring_begin(&r->ring[i]);
	/* label: recorder.on -- a carrier that sees the pointer sees the initialized recorder. */
	fib_store_release(&s->recording, r);
	return 0;
}

void fib_recorder_stop(struct fib_sched *s)
{
	fib_store(&s->recording, NULL);
}

bool fib_recorder_trim(struct fib_sched *s)
{
	struct fib_recorder *r, *records = fib_recorder_of(s);
	size_t n;

	for (r = s->recorders; r; r = r->older) {
		if (r == records || !r->kept)
			continue;
		/* A carrier that still writes there gets a new page. */
		n = r->kept < TRIM ? r->kept : TRIM;
		r->kept -= n;
		fib_os_discard((char *)r->ring[0].slots + r->kept, n);
		return true;
	}
	return false;
}

struct fib_recorder *fib_recorder_of(struct fib_sched *s)
{
	return fib_load_acquire(&s->recording); /* pairs: recorder.on */
}

void fib_recorder_release(struct fib_sched *s)
{
	struct fib_recorder *r, *older;

	for (r = s->recorders; r; r = older) {
		older = r->older;
		fib_os_unmap(r, r->size);
	}
	s->recorders = NULL;
}

void fib_recorder_apply(struct fib_carrier *c)
{
	c->recorder = fib_load_acquire(&c->sched->recording); /* pairs: recorder.on */
	if (c->recorder)
		fib_or(&c->slow_switch, FIB_SLOW_RECORDS);
	else if (fib_records(c))
		fib_and(&c->slow_switch, (uint8_t)~FIB_SLOW_RECORDS);
}

/* -- by carriers -- */

/* The object that a fiber waits for, as in an event. */
static inline uint64_t object_of(const struct fiber *fiber, unsigned kind)
{
	return kind == FIB_WAIT_JOIN ? fiber->wait_arg : fiber->wait_object;
}

/* The directions of a wait for a descriptor. */
static inline unsigned ways_of(const struct fiber *fiber, unsigned kind)
{
	if (kind != FIB_WAIT_FD)
		return 0;
	return (unsigned)(fiber->wait_arg >> 32 << 1) & (FIB_EVENT_READ | FIB_EVENT_WRITE);
}

static inline void put_run(struct fib_carrier *c, const struct fiber *next, uint64_t object,
			   unsigned kind, unsigned state, unsigned ways, uint32_t arg)
{
	struct fib_recorder *r = c->recorder;
	/* A fiber that starts has been on no carrier. */
	const unsigned flags = next && next->context.sp && next->carrier != c->index &&
					       !(next->flags & FIBER_BOUND)
				       ? FIB_EVENT_MIGRATED
				       : 0;

	fib_event_put(&r->ring[c->index], now(r), next ? next->id : 0, object,
		      fib_event_what(FIB_EVENT_RUN, kind, state, flags | ways, arg));
}

void fib_recorder_ran(struct fib_carrier *c, const struct fiber *left, const struct fiber *next)
{
	unsigned kind;

	if (!left) {
		put_run(c, next, 0, 0, FIB_EVENT_NOBODY, 0, 0);
		return;
	}
	/* Its state may have changed already, if its waker was faster. */
	kind = fib_load(&left->wait_kind);
	if (kind == FIB_WAIT_YIELD)
		put_run(c, next, 0, kind, FIBER_RUNNABLE, 0, 0);
	else
		put_run(c, next, object_of(left, kind), kind, FIBER_SUSPENDED, ways_of(left, kind),
			(uint32_t)left->wait_arg);
}

void fib_recorder_ran_after_end(struct fib_carrier *c, const struct fiber *next)
{
	put_run(c, next, 0, 0, FIBER_DEAD, 0, 0);
}

void fib_recorder_ended(struct fib_carrier *c, const struct fiber *fiber)
{
	struct fib_recorder *r = c->recorder;

	fib_event_put(
		&r->ring[c->index], now(r), fiber->id, 0,
		fib_event_what(FIB_EVENT_EXIT, 0, FIBER_DEAD, 0, (uint32_t)fiber->result.error));
}

void fib_recorder_stole(struct fib_carrier *c, const struct fiber *fiber, unsigned victim)
{
	struct fib_recorder *r = c->recorder;

	fib_event_put(&r->ring[c->index], now(r), fiber->id, 0,
		      fib_event_what(FIB_EVENT_STEAL, 0, FIBER_RUNNABLE, 0, victim));
}

/* -- by any thread -- */

/*
 * Returns the ring for the calling thread, and its recorder in *ret; NULL when nothing is recorded.
 * Release it with let_go().
 */
static struct fib_event_ring *take_ring(struct fib_sched *s, struct fib_recorder **ret)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fib_recorder *r;

	if (c && c->sched == s) {
		*ret = r = c->recorder;
		return r ? &r->ring[c->index] : NULL;
	}
	*ret = r = fib_load_acquire(&s->recording); /* pairs: recorder.on */
	if (!r)
		return NULL;
	fib_tls_enter();
	fib_spin_lock(&r->lock);
	return &r->ring[r->rings - 1];
}

static void let_go(struct fib_recorder *r, const struct fib_event_ring *ring)
{
	if (ring != &r->ring[r->rings - 1])
		return;
	fib_spin_unlock(&r->lock);
	fib_tls_leave();
}

static void put_name(struct fib_event_ring *ring, const struct fiber *fiber)
{
	uint64_t word[4];
	unsigned i;

	if (!fiber->name[0]) /* the bytes behind the NUL may be of an earlier name */
		return;
	memcpy(word, fiber->name, sizeof word);
	for (i = 0; i < 4 && word[i]; i += 2)
		fib_event_put(ring, word[i], fiber->id, word[i + 1],
			      fib_event_what(FIB_EVENT_NAME, 0, 0, 0, i * 8));
}

void fib_recorder_spawned(struct fib_sched *s, const struct fiber *fiber)
{
	struct fib_recorder *r;
	struct fib_event_ring *ring = take_ring(s, &r);

	if (!ring)
		return;
	fib_event_put(
		ring, now(r), fiber->id, (uint64_t)(uintptr_t)fiber->fn,
		fib_event_what(FIB_EVENT_SPAWN, 0, FIBER_RUNNABLE, 0, (uint32_t)fiber->parent));
	put_name(ring, fiber);
	let_go(r, ring);
}

/* As in a holder field; 0 for a carrier without a fiber. */
static uint64_t caller(void)
{
	struct fib_carrier *c = fib_carrier_self();

	if (c)
		return c->current ? c->current->id : 0;
	return FIB_HOLDER_THREAD | fib_os_tid();
}

void fib_recorder_woke(struct fib_sched *s, const struct fiber *fiber)
{
	struct fib_recorder *r;
	struct fib_event_ring *ring;

	/* Its creation has been recorded. */
	if (fib_load(&fiber->state) == FIBER_CREATED)
		return;
	ring = take_ring(s, &r);
	if (!ring)
		return;
	fib_event_put(
		ring, now(r), fiber->id, caller(),
		fib_event_what(FIB_EVENT_WAKE, fib_load(&fiber->wait_kind), FIBER_RUNNABLE, 0, 0));
	let_go(r, ring);
}

void fib_recorder_pinned(const struct fiber *fiber, bool waits)
{
	struct fib_recorder *r;
	struct fib_event_ring *ring = take_ring(fiber->sched, &r);
	const unsigned kind = fib_load(&fiber->wait_kind);

	if (!ring)
		return;
	fib_event_put(ring, now(r), fiber->id, object_of(fiber, kind),
		      fib_event_what(waits ? FIB_EVENT_PINNED : FIB_EVENT_UNPINNED, kind,
				     FIBER_RUNNING, ways_of(fiber, kind),
				     (uint32_t)fiber->wait_arg));
	let_go(r, ring);
}

void fib_recorder_slow(struct fib_sched *s, uint64_t fiber, unsigned carrier, int64_t ns)
{
	struct fib_recorder *r = fib_recorder_of(s);
	struct fib_event_ring *ring;

	if (!r)
		return;
	ring = &r->ring[r->rings - 1];
	/* pairs: spin.unlock */
	if (fib_swap(&r->lock, 1)) {
		ring->lost++; /* the service thread reads this ring, so it may write lost */
		return;
	}
	fib_event_put(ring, now(r), fiber, (uint64_t)ns,
		      fib_event_what(FIB_EVENT_SLOW, 0, FIBER_RUNNING, 0, carrier));
	fib_spin_unlock(&r->lock);
}
