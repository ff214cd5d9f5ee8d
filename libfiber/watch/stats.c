/* SPDX-License-Identifier: MIT */
/*
 * stats.c - read the carriers' counters, for the service thread
 *
 * This reads what the scheduler keeps for itself (counters.c) while that changes. The list of
 * schedulers is locked meanwhile, so that none is freed; fibers never take that lock.
 */
#include "watch/stats.h"

#include <stdio.h>
#include <string.h>

#include "core/registry.h"
#include "life/live_count.h"
#include "os/os.h"
#include "os/threads.h"
#include "sched/counters.h"
#include "sched/running.h"
#include "sched/sched.h"
#include "watch/tick.h"

_Static_assert(FIB_WIRE_DELAYS == FIB_COUNTERS_DELAYS, "the same steps");

/* Guarded by a lock that must not be taken here. */
fib_unwatched static uint32_t timers(const struct fib_carrier *c)
{
	return *(const volatile uint32_t *)&c->timers.count;
}

static uint32_t queued(struct fib_carrier *c)
{
	/* The head first: then the tail is not behind it. */
	const uint32_t head = fib_load_acquire(&c->queue.head);
	const uint32_t ring = fib_load_acquire(&c->queue.tail) - head;

	return ring + fib_load(&c->queue.overflowing) + fib_load(&c->start_queue.count) +
	       fib_load(&c->inbox.count) + fib_load(&c->idle_fibers.count) + !!fib_load(&c->woken);
}

/* The fiber may exit meanwhile, and its record be used again; both stay mapped. */
fib_unwatched static void read_name(struct fiber *fiber, struct fib_wire_carrier *ret)
{
	const volatile char *name = fiber->name;
	size_t i;

	ret->entry = (uint64_t)(uintptr_t) * (fiber_fn *volatile *)&fiber->fn;
	for (i = 0; i < sizeof ret->name - 1; i++)
		ret->name[i] = name[i];
}

static void see_what_it_does(struct fib_carrier *c, struct fib_wire_carrier *ret)
{
	struct fiber *fiber;
	bool polls;

	if (fib_idle_is_asleep(c, &polls)) {
		ret->state = polls ? FIB_WIRE_CARRIER_POLLING : FIB_WIRE_CARRIER_IDLE;
		return;
	}
	fiber = fib_running_on(c);
	ret->fiber = fiber ? fib_observe(&fiber->id) : 0;
	ret->state = ret->fiber ? FIB_WIRE_CARRIER_RUNNING : FIB_WIRE_CARRIER_SEARCHING;
	if (!ret->fiber)
		return;
	/*
	 * While the fiber runs (its seq is odd) `since` is when it started to run or was last
	 * counted.
	 */
	ret->since = fib_coarse_now() - fib_load(&fiber->since);
	read_name(fiber, ret);
	if (ret->since < 0 || fib_running_on(c) != fiber)
		ret->since = 0;
	if (fib_observe(&fiber->id) == ret->fiber)
		return;
	/* The name is another fiber's. */
	ret->entry = 0;
	ret->name[0] = 0;
}

/* The state comes first: the counts of a carrier that sleeps include all that it did before. */
static void count_carrier(struct fib_carrier *c, struct fib_wire_carrier *ret)
{
	struct fib_counts m;

	*ret = (struct fib_wire_carrier){.index = c->index, .tid = fib_load(&c->tid)};
	see_what_it_does(c, ret);
	fib_counters_read(c, &m);
	ret->queued = queued(c);
	ret->timers = timers(c);
	ret->switches = m.switches;
	ret->steals = m.steals;
	ret->wakeups = m.wakeups;
	ret->polls = m.polls;
	ret->timeouts = m.timeouts;
	ret->delayed = m.delayed;
	memcpy(ret->delays, m.delays, sizeof ret->delays);
	ret->stacks = fib_stack_cached(&c->stacks);
	ret->cpu = fib_os_thread_cpu_of(ret->tid);
	if (ret->cpu < 0)
		ret->cpu = -1;
}

struct count {
	unsigned first;
	struct fib_wire_runtime *runtime;
	struct fib_wire_carrier *carriers;
};

static void count_runtime(struct fib_sched *s, void *arg)
{
	const struct count *count = arg;
	struct fib_wire_runtime *r = count->runtime;
	unsigned i;

	*r = (struct fib_wire_runtime){.serial = s->serial, .now = fib_os_now()};
	r->all = s->carrier_count;
	r->substitutes = s->carrier_count - s->regular;
	r->first = count->first;
	if (r->first < r->all)
		r->carriers = r->all - r->first;
	if (r->carriers > FIB_STATS_CARRIERS)
		r->carriers = FIB_STATS_CARRIERS;
	fib_live_totals(s, &r->spawned, &r->ended);
	r->pinned = fib_load(&s->pinned.count);
	r->pinned_dropped = fib_load(&s->pinned.dropped);
	r->queued = fib_load(&s->inbox.count) + fib_load(&s->idle_fibers.count);
	r->carrier_size = sizeof *count->carriers;
	snprintf(r->poller, sizeof r->poller, "%s", s->poller->ops->name);
	snprintf(r->note, sizeof r->note, "%s", s->poller_note.text);
	for (i = 0; i < r->carriers; i++)
		count_carrier(&s->carriers[r->first + i], &count->carriers[i]);
	r->polls = fib_load(&s->polls); /* at least those of each of these carriers */
}

bool fib_stats_next(uint64_t after, unsigned first, struct fib_wire_runtime *ret,
		    struct fib_wire_carrier ret_carriers[FIB_STATS_CARRIERS])
{
	struct count count = {first, ret, ret_carriers};

	return fib_tick_next(after, count_runtime, &count);
}
