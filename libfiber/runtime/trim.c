/* SPDX-License-Identifier: MIT */
/*
 * trim.c - give memory that no fiber needs now back to the system
 *
 * The pool gives back the free stacks. What remains are the stacks of fibers that wait.
 *
 * Below its saved stack pointer a suspended fiber has nothing. But it may be woken at any moment,
 * and a page that is dropped while the fiber writes to it is lost. Carriers can only prevent that in
 * a runtime that was started for it (sched/trim.c). So here unused pages are dropped only by the
 * thread that alone can run the fiber: its carrier, if it is the only one of its runtime or the fiber
 * is bound to it. This thread is here, so it does not run the fiber.
 *
 * Advice that keeps the contents needs no such care. If the record changes hands after it was read,
 * another fiber's stack becomes cold. Stacks of the pool are never unmapped.
 */
#include <fiber/trim.h>

#include <errno.h>

#include "core/registry.h"
#include "os/os.h"
#include "sched/sched.h"
#include "stack/pool.h"

#define FLAGS_KNOWN (FIBER_TRIM_UNUSED | FIBER_TRIM_COLD | FIBER_TRIM_PAGEOUT)

/* Whether only the calling thread, carrier c in a fiber, could run the fiber. */
static bool only_here(const struct fib_carrier *c, const struct fib_suspended *v)
{
	if (v->sched != c->sched)
		return false;
	return c->sched->carrier_count == 1 || ((v->flags & FIBER_BOUND) && v->carrier == c->index);
}

static size_t advise(const struct fib_suspended *v, unsigned flags)
{
	void *const low = (void *)(uintptr_t)v->low;
	const size_t size = v->top - v->low;
	size_t before, after;

	if (flags & FIBER_TRIM_COLD)
		fib_os_advise_cold(low, size);
	if (!(flags & FIBER_TRIM_PAGEOUT))
		return 0;
	before = fib_os_resident_in(v->low, size);
	fib_os_advise_out(low, size);
	after = fib_os_resident_in(v->low, size);
	return after < before ? before - after : 0;
}

static size_t trim_suspended(const struct fib_carrier *c, unsigned flags, int64_t before)
{
	const uint64_t n = fib_registry_committed();
	struct fib_suspended view;
	size_t bytes = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (!fib_suspended_read(fib_registry_at(i), &view) || view.since > before)
			continue;
		if ((flags & FIBER_TRIM_UNUSED) && only_here(c, &view))
			bytes += fib_suspended_trim(&view);
		bytes += advise(&view, flags);
	}
	return bytes;
}

int64_t fiber_trim(unsigned flags, int64_t idle_ns)
{
	struct fib_carrier *c = fib_carrier_self();
	size_t bytes;

	if ((flags & ~(unsigned)FLAGS_KNOWN) || idle_ns < 0 ||
	    ((flags & FIBER_TRIM_COLD) && (flags & FIBER_TRIM_PAGEOUT)))
		return -EINVAL;
	if ((flags & FIBER_TRIM_UNUSED) && !(c && c->current))
		return -EPERM;
	if (c)
		fib_stack_flush(&c->stacks);
	bytes = fib_stack_release();
	if (flags)
		bytes += trim_suspended(c, flags, fib_os_now() - idle_ns);
	return (int64_t)bytes;
}
