/* SPDX-License-Identifier: MIT */
/*
 * gc.c - stop all fibers for a garbage collector, and let them continue
 *
 * The enumeration reads lists that carriers change under spin locks. A carrier that was stopped while it
 * held one of them would keep it until it continues. So the locks are tried after the carriers have
 * stopped. If one is held, the carriers continue and are stopped again; a spin lock is held for some
 * instructions, so this soon succeeds. The locks are kept until fiber_gc_go(): the collector may stop
 * other threads meanwhile, and these must not hold them either.
 *
 * A carrier may also block the signal for long. It may then wait for a carrier that has stopped already. So
 * each attempt ends after ATTEMPT, and the carriers run for a while before the next one.
 */
#include <fiber/gc.h>

#include <errno.h>

#include "base/check.h"
#include "io/ops.h"
#include "life/offload.h"
#include "os/os.h"
#include "runtime/gc_roots.h"
#include "stack/pool.h"
#include "sync/chan_list.h"
#include "watch/halt.h"
#include "watch/tick.h"

#define ATTEMPT INT64_C(20000000) /* ns */

static void unlock_ops(const struct fib_carrier *end)
{
	struct fib_carrier *c;

	for (c = fib_halted(); c != end; c = c->halt.next)
		if (c->index == 0)
			fib_ops_unlock(c->sched);
}

static bool try_ops(void)
{
	struct fib_carrier *c;

	for (c = fib_halted(); c; c = c->halt.next) {
		if (c->index == 0 && !fib_ops_try(c->sched)) {
			unlock_ops(c);
			return false;
		}
	}
	return true;
}

/* Take the locks of what is enumerated. False: none is taken. */
static bool try_locks(void)
{
	if (!fib_chan_list_try())
		return false;
	if (fib_offload_try()) {
		if (try_ops())
			return true;
		fib_offload_unlock();
	}
	fib_chan_list_unlock();
	return false;
}

static void unlock_all(void)
{
	unlock_ops(NULL);
	fib_offload_unlock();
	fib_chan_list_unlock();
}

/* One attempt. 0, -EAGAIN, or another error. */
static int stop_once(int64_t deadline)
{
	int rc = fib_halt(deadline);

	if (rc == 0 && !try_locks()) {
		fib_halt_end();
		rc = -EAGAIN;
	}
	return rc;
}

static int64_t attempt_until(int64_t now, int64_t deadline)
{
	return deadline > now && deadline - now > ATTEMPT ? now + ATTEMPT : deadline;
}

static int stop(int64_t deadline)
{
	int64_t now = fib_os_now();
	int rc;

	/* At least once. */
	while ((rc = stop_once(attempt_until(now, deadline))) == -EAGAIN) {
		now = fib_os_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		fib_os_yield();
	}
	return rc;
}

int fiber_gc_stop(int64_t deadline)
{
	struct fiber *fiber = fib_self();
	int rc = fib_halt_claim(deadline);

	if (rc < 0)
		return rc;
	/* It must not leave its carrier, also not for another one. */
	if (fiber)
		fiber->pins++;
	rc = stop(deadline);
	if (rc == 0)
		return 0;
	if (fiber)
		fiber->pins--;
	fib_halt_disclaim();
	return rc;
}

int fiber_gc_go(void)
{
	struct fiber *fiber = fib_self();

	if (!fib_halt_mine())
		return -EPERM;
	unlock_all();
	fib_halt_end();
	if (fiber)
		fiber->pins--;
	fib_halt_disclaim();
	return 0;
}

int fiber_gc_each_root_range(fiber_gc_range_fn *fn, void *arg)
{
	fib_must_have(fn, "the function");
	return fib_halt_mine() ? fib_gc_roots_stopped(fn, arg) : fib_gc_roots_running(fn, arg);
}

int fiber_gc_copy_range(const struct fiber_gc_range *range, void *to)
{
	const uint64_t low = (uint64_t)(uintptr_t)range->low;
	/* Its fiber may have exited, but records are never unmapped. */
	struct fiber *fiber = (struct fiber *)(uintptr_t)range->record;
	int rc = fib_os_peek(low, to, (size_t)((uint64_t)(uintptr_t)range->high - low));

	if (rc < 0 || !range->fiber || fib_halt_mine())
		return rc;
	/* pairs: record.seq */
	fib_fence_acquire();
	return (range->flags & FIBER_GC_RUNNING) || fib_load(&fiber->seq) != range->seq ||
			       fib_observe(&fiber->id) != range->fiber
		       ? -EAGAIN
		       : 0;
}

/* Where the stack ends that a signal finds on the carrier. */
static uint64_t bottom_of(const struct fib_carrier *c)
{
	const bool halted = fib_load(&c->halt.state) == FIB_HALT_HALTED;
	const uint64_t at = halted ? c->halt.at : (uint64_t)(uintptr_t)__builtin_frame_address(0);
	const struct fiber *fiber = c->current;

	if (halted && c->halt.signal_top)
		return c->halt.signal_top;
	if (fiber && at - (uint64_t)(uintptr_t)fiber->stack.low < fiber->stack.size)
		return (uint64_t)(uintptr_t)fiber->stack.low + fib_stack_usable(&fiber->stack);
	return c->halt.stack_high;
}

int fiber_gc_each_carrier(int (*fn)(const struct fiber_gc_carrier *, void *arg), void *arg)
{
	struct fib_carrier *c;
	int rc = 0;

	fib_must_have(fn, "the function");
	if (!fib_halt_mine())
		return -EPERM;
	for (c = fib_halted(); c && rc == 0; c = c->halt.next) {
		const struct fiber_gc_carrier carrier = {c->halt.hooked.thread,
							 (const void *)(uintptr_t)bottom_of(c)};

		rc = fn(&carrier, arg);
	}
	return rc;
}

int fiber_gc_set_hooks(const struct fiber_gc_hooks *hooks)
{
	if (hooks && hooks->size != sizeof *hooks)
		return -EINVAL;
	if (fib_tick_carriers())
		return -EBUSY;
	/* label: hooks.set */
	fib_store_release(&fib_hooks, hooks);
	return 0;
}
