/* SPDX-License-Identifier: MIT */
/*
 * census.c - what the carriers do, for the service thread
 *
 * Nothing is counted for this on the way of a fiber: it reads what the scheduler keeps for itself, while
 * that changes. The list of schedulers is locked meanwhile, so that none goes; fibers never take that lock.
 */
#include "sched/census.h"

#include <stdio.h>

#include "sched/sched.h"
#include "sched/tick.h"

/* A carrier's own pointer, of which only it knows when it changes; what it points to, a record, is never unmapped. So
 * the worst is the id of a fiber that has just been left. */
fib_noinline __attribute__((no_sanitize("thread"))) static uint64_t current_id(
	struct fib_carrier *c)
{
	struct fiber *const fiber = *(struct fiber *volatile *)&c->current;

	return fiber ? fib_observe(&fiber->id) : 0;
}

static uint32_t queued(struct fib_carrier *c)
{
	/* The head first: then the tail is not behind it. */
	const uint32_t head = fib_load_acquire(&c->queue.head);
	const uint32_t ring = fib_load_acquire(&c->queue.tail) - head;

	return ring + fib_load(&c->queue.overflowing) + fib_load(&c->fresh.count) +
	       fib_load(&c->inbox.count) + fib_load(&c->spare.count) + !!fib_load(&c->woken);
}

static void count_carrier(struct fib_carrier *c, struct fib_wire_carrier *ret)
{
	bool polls;

	ret->index = c->index;
	ret->queued = queued(c);
	ret->fiber = 0;
	if (fib_idle_lies(c, &polls)) {
		ret->state = polls ? FIB_WIRE_CARRIER_POLLING : FIB_WIRE_CARRIER_IDLE;
		return;
	}
	ret->fiber = current_id(c);
	ret->state = ret->fiber ? FIB_WIRE_CARRIER_RUNNING : FIB_WIRE_CARRIER_SEARCHING;
}

struct count {
	struct fib_wire_runtime *runtime;
	struct fib_wire_carrier *carriers;
};

static void count_runtime(struct fib_sched *s, void *arg)
{
	const struct count *count = arg;
	struct fib_wire_runtime *r = count->runtime;
	unsigned i;

	*r = (struct fib_wire_runtime){.serial = s->serial, .polls = fib_load(&s->polls)};
	r->carriers = s->carrier_count;
	r->queued = fib_load(&s->inject.count) + fib_load(&s->spare.count);
	r->carrier_size = sizeof *count->carriers;
	snprintf(r->poller, sizeof r->poller, "%s", s->poller->ops->name);
	snprintf(r->note, sizeof r->note, "%s", s->poller_note.text);
	for (i = 0; i < s->carrier_count; i++)
		count_carrier(&s->carriers[i], &count->carriers[i]);
}

bool fib_census_next(uint64_t after, struct fib_wire_runtime *ret,
		     struct fib_wire_carrier *ret_carriers)
{
	struct count count = {ret, ret_carriers};

	return fib_tick_next(after, count_runtime, &count);
}
