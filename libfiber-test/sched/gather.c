/* SPDX-License-Identifier: MIT */
/* gather.c - the carriers of all runtimes, which are no threads, and what becomes runnable on them */
#include "sched/gather.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/tls.h"
#include "carriers.h"
#include "core/registry.h"
#include "os/os.h"
#include "os/pinned.h"
#include "os/virtual.h"
#include "sched/outside.h"
#include "sched/ready.h"

#define RUNTIMES 16u
#define EVENTS	 64

static struct fib_carrier *carriers[RUNTIMES];
static unsigned count;
static bool used; /* a runtime was started */
static void (*on_start)(struct fib_carrier *c), (*on_end)(struct fib_carrier *c);
static int64_t pinned_deadline = INT64_MAX; /* the nearest of pinned fibers that wait */

bool fib_gather_used(void)
{
	return used;
}

void fib_gather_each(void (*fn)(struct fib_carrier *c))
{
	unsigned i;

	for (i = 0; i < count; i++)
		fn(carriers[i]);
}

void fib_gather_watch(void (*starts)(struct fib_carrier *c), void (*ends)(struct fib_carrier *c))
{
	on_start = starts;
	on_end = ends;
	if (starts)
		fib_gather_each(starts);
}

unsigned fib_carriers_wanted(unsigned n)
{
	(void)n;
	return 1;
}

bool fib_may_run_runtime(void)
{
	return !fiber_self() || fib_virtual_here();
}

int fib_carrier_start(struct fib_carrier *c)
{
	if (count == RUNTIMES)
		return -EAGAIN;
	/* Without it a stack overflow ends the program with less information. */
	if (fib_os_altstack_enter(&c->altstack) < 0)
		c->altstack = NULL;
	fib_context_adopt(&c->idle, &c->announce);
	if (c->sched->shared_fpu)
		fib_context_share(&c->idle);
	c->above.carrier_begins(c);
	carriers[count++] = c;
	used = true;
	if (on_start)
		on_start(c);
	return 0;
}

void fib_carrier_join(struct fib_carrier *c)
{
	unsigned i;

	for (i = 0; i < count && carriers[i] != c; i++)
		;
	fib_check(i < count);
	if (on_end)
		on_end(c);
	carriers[i] = carriers[--count];
	if (c->altstack)
		fib_os_altstack_leave(c->altstack);
	fib_stack_flush(&c->stacks);
	fib_record_flush(&c->records);
}

/* Never called: fib_carrier_start() starts no thread. */
void *fib_carrier_main(void *c)
{
	return c;
}

int64_t fib_gather_nearest(void)
{
	int64_t nearest = pinned_deadline, at;
	unsigned i;

	for (i = 0; i < count; i++) {
		at = fib_load(&carriers[i]->timers.nearest);
		if (at < nearest)
			nearest = at;
	}
	return nearest;
}

static void expire(struct fib_carrier *c, int64_t now)
{
	struct fiber *due[FIB_TIMERS_BATCH];
	unsigned i, n;

	if (fib_load(&c->timers.nearest) > now)
		return;
	while ((n = fib_timers_expire(&c->timers, now, due, FIB_TIMERS_BATCH)) != 0)
		for (i = 0; i < n; i++)
			fib_ready(due[i], false);
}

static int by_descriptor(const void *a, const void *b)
{
	/* The low half of a token is the descriptor (io/table.h). */
	const uint32_t x = (uint32_t)((const struct fib_poll_event *)a)->token;
	const uint32_t y = (uint32_t)((const struct fib_poll_event *)b)->token;

	return (x > y) - (x < y);
}

/* On its carrier and outside a fiber, as in production, whatever fiber has called. */
static void dispatch(struct fib_carrier *c, const struct fib_poll_event *events, int n)
{
	void *const caller = fib_tls_carrier();
	struct fiber *const current = c->current;

	fib_tls_set_carrier(c);
	c->current = NULL;
	c->sched->dispatch(events, n);
	c->current = current;
	fib_tls_set_carrier(caller);
}

/*
 * Handle the events of descriptors that are ready now, by number: the order of the kernel's list is
 * not that of the schedule.
 */
static void dispatch_ready(struct fib_carrier *c)
{
	static struct fib_poll_event *events;
	static size_t room;
	struct fib_sched *s = c->sched;
	struct fib_poll_event *more;
	size_t ready = 0;
	int n = EVENTS;

	if (!fib_load(&s->watching))
		return;
	while (n == EVENTS) {
		if (room < ready + EVENTS) {
			room = 2 * room + EVENTS;
			more = realloc(events, room * sizeof *events);
			fib_check(more);
			events = more;
		}
		n = s->poller->ops->wait(s->poller, events + ready, EVENTS, 0);
		ready += n > 0 ? (size_t)n : 0;
	}
	if (!ready)
		return;
	qsort(events, ready, sizeof *events, by_descriptor);
	dispatch(c, events, (int)ready);
}

/* Fibers that a spawn or a yield has put into a queue of their carrier. */
static void empty_queues(struct fib_carrier *c)
{
	struct fiber *fiber;

	while ((fiber = fib_start_queue_take(&c->start_queue, false)) ||
	       (fiber = fib_runqueue_take(&c->queue)) || (fiber = fib_inbox_take(&c->inbox)) ||
	       (fiber = fib_inbox_take(&c->sched->inbox)))
		fib_ready_add(fiber);
	while ((fiber = fib_inbox_take(&c->idle_fibers)) ||
	       (fiber = fib_inbox_take(&c->sched->idle_fibers)))
		fib_ready_add_idle(fiber);
}

void fib_gather(void)
{
	const int64_t now = fib_virtual_now();
	unsigned i;

	fib_coarse_set(now);
	for (i = 0; i < count; i++) {
		empty_queues(carriers[i]);
		expire(carriers[i], now);
		dispatch_ready(carriers[i]);
	}
	pinned_deadline = fib_pinned_gather();
}

bool fib_gather_wait(void)
{
	int pollers[RUNTIMES];
	bool operations = false;
	unsigned i, n = 0;

	for (i = 0; i < count; i++) {
		struct fib_sched *s = carriers[i]->sched;

		operations = operations || fib_load(&s->ops);
		if (fib_load(&s->watching))
			pollers[n++] = s->poller->ops->descriptor(s->poller);
	}
	return fib_outside_wait(pollers, n, operations);
}
