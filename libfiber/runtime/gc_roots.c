/* SPDX-License-Identifier: MIT */
/*
 * gc_roots.c - the memory in which libfiber keeps pointers of the program
 *
 * These are the fibers (gc_fiber.c), and what libfiber has on the heap of the C library or in memory from
 * the system, where no collector looks: buffers of channels, arguments and results of fiber_block(),
 * operations in progress, the argument of an idle hook. Everything else that the program gives to
 * libfiber is on the stack of the fiber or thread that calls, or in memory of the program: mutexes and
 * other objects, groups, cases of a select, buffers of descriptors.
 *
 * A stopped carrier also has its own stack and the one for signals. In the idle context it runs an idle
 * hook of the program; above its first frame are its thread-locals.
 */
#include "runtime/gc_roots.h"

#include "context/context.h"
#include "core/registry.h"
#include "io/ops.h"
#include "life/offload.h"
#include "runtime/gc_fiber.h"
#include "sync/chan_list.h"
#include "watch/halt.h"
#include "watch/tick.h"

static int report(const struct fib_gc_walk *walk, enum fiber_gc_kind kind, const void *low,
		  const void *high)
{
	struct fiber_gc_range range = {.low = low, .high = high, .kind = kind};

	return fib_gc_report(walk, &range);
}

static int report_addresses(const struct fib_gc_walk *walk, enum fiber_gc_kind kind, uint64_t low,
			    uint64_t high)
{
	return report(walk, kind, (const void *)(uintptr_t)low, (const void *)(uintptr_t)high);
}

/*
 * Only elements that were sent and not received: a received one must not keep its object alive. A
 * carrier that is stopped while it moves an element has it in its own memory or registers, too. Without a
 * stop the whole buffer.
 */
static int report_chan(const struct fiber_chan *chan, void *arg)
{
	const struct fib_gc_walk *walk = arg;
	size_t first = chan->first, count = fib_load(&chan->count);
	const size_t size = chan->elem_size;
	size_t straight;
	int rc;

	if (!walk->stopped) {
		first = 0;
		count = chan->capacity;
	}
	straight = count < chan->capacity - first ? count : chan->capacity - first;
	rc = report(walk, FIBER_GC_CHANNEL, chan->elems + first * size,
		    chan->elems + (first + straight) * size);
	return rc != 0 ? rc
		       : report(walk, FIBER_GC_CHANNEL, chan->elems,
				chan->elems + (count - straight) * size);
}

static int report_offload(const void *low, const void *high, void *arg)
{
	return report(arg, FIBER_GC_OFFLOAD, low, high);
}

static int report_op(const void *low, const void *high, void *arg)
{
	return report(arg, FIBER_GC_OPERATION, low, high);
}

static int report_sched(struct fib_gc_walk *walk, struct fib_sched *s)
{
	int rc = fib_ops_each(s, report_op, walk);

	return rc != 0 ? rc
		       : report(walk, FIBER_GC_IDLE_HOOK, &s->idle.hook_arg, &s->idle.hook_arg + 1);
}

static int report_fibers(const struct fib_gc_walk *walk)
{
	const uint64_t committed = fib_registry_committed();
	uint64_t i;
	int rc = 0;

	for (i = 0; i < committed && rc == 0; i++)
		rc = fib_gc_fiber(walk, fib_registry_at(i));
	return rc;
}

static bool on_own_stack(const struct fib_carrier *c, uint64_t at)
{
	return at > c->halt.stack_low && at < c->halt.stack_high;
}

/* Where the used part of a carrier's own stack begins. */
static uint64_t own_stack_from(const struct fib_gc_walk *walk, const struct fib_carrier *c)
{
	const bool halted = fib_load(&c->halt.state) == FIB_HALT_HALTED;
	const uint64_t at = halted ? c->halt.at : walk->at;

	if (on_own_stack(c, at))
		return at;
	if (halted && on_own_stack(c, c->halt.sp))
		return c->halt.sp - FIB_FRAME_RED_ZONE;
	/* The carrier is in a fiber: the idle context is saved. Else it is on an unknown stack. */
	if (c->current && on_own_stack(c, c->idle.sp))
		return c->idle.sp - FIB_FRAME_RED_ZONE;
	return c->halt.stack_low;
}

static int report_carrier(const struct fib_gc_walk *walk, const struct fib_carrier *c)
{
	const bool halted = fib_load(&c->halt.state) == FIB_HALT_HALTED;
	int rc = 0;

	if (halted && c->halt.signal_top)
		rc = report_addresses(walk, FIBER_GC_CARRIER_REGISTERS, c->halt.at,
				      c->halt.signal_top);
	if (rc == 0 && c->halt.stack_high)
		rc = report_addresses(walk, FIBER_GC_CARRIER, own_stack_from(walk, c),
				      c->halt.stack_high);
	return rc;
}

/* With the caller's registers on the stack above its frame. */
struct stopped {
	struct fib_gc_walk walk;
	int rc;
};

static void report_stopped(void *arg)
{
	struct stopped *s = arg;
	const struct fib_carrier *c;

	s->walk.at = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	s->rc = report_fibers(&s->walk);
	if (s->rc == 0)
		s->rc = fib_chan_list_each(report_chan, &s->walk);
	if (s->rc == 0)
		s->rc = fib_offload_each(report_offload, &s->walk);
	for (c = fib_halted(); c && s->rc == 0; c = c->halt.next) {
		s->rc = report_carrier(&s->walk, c);
		if (s->rc == 0 && c->index == 0)
			s->rc = report_sched(&s->walk, c->sched);
	}
}

int fib_gc_roots_stopped(fiber_gc_range_fn *fn, void *arg)
{
	struct stopped s = {.walk = {.fn = fn, .arg = arg, .stopped = true}};

	fib_context_spill(report_stopped, &s);
	return s.rc;
}

/* The schedulers one after the other, each while the list of them is locked. */
struct running {
	struct fib_gc_walk walk;
	uint64_t serial;
	int rc;
};

static void report_running(struct fib_sched *s, void *arg)
{
	struct running *r = arg;

	r->serial = s->serial;
	fib_ops_lock(s);
	r->rc = report_sched(&r->walk, s);
	fib_ops_unlock(s);
}

int fib_gc_roots_running(fiber_gc_range_fn *fn, void *arg)
{
	struct running r = {.walk = {.fn = fn, .arg = arg}};

	r.rc = report_fibers(&r.walk);
	if (r.rc == 0) {
		fib_chan_list_lock();
		r.rc = fib_chan_list_each(report_chan, &r.walk);
		fib_chan_list_unlock();
	}
	if (r.rc == 0) {
		fib_offload_lock();
		r.rc = fib_offload_each(report_offload, &r.walk);
		fib_offload_unlock();
	}
	while (r.rc == 0 && fib_tick_next(r.serial, report_running, &r))
		;
	return r.rc;
}
