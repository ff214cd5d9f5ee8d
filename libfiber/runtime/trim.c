/* SPDX-License-Identifier: MIT */
/*
 * trim.c - give memory that no fiber needs now back to the system
 *
 * The pool gives back the free stacks. What remains are the stacks of fibers that wait.
 *
 * Below its saved stack pointer a suspended fiber has nothing. But it may be woken at any moment,
 * and a page that is dropped while the fiber writes to it is lost. No lock that a switch would have
 * to take, and no order of reads, can prevent that from another thread. So unused pages are dropped
 * only by the thread that alone can run the fiber: its carrier, if it is the only one of its
 * runtime or the fiber is bound to it. This thread is here, so it does not run the fiber.
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

/* Bytes below the stack pointer that stay: more than any ABI's red zone. */
#define RED_ZONE 512u

/* What is read of a record. */
struct view {
	uint64_t low, sp, top; /* of a stack of the pool */
	const struct fib_sched *sched;
	unsigned flags, carrier;
};

/* A field that its owner may write at this moment, without an atomic store. */
#define look(field) (*(const volatile __typeof__(field) *)&(field))

/* Read the record of a fiber that has been suspended since `before` or longer, ns; false: it has
 * not. The record may change at any time: what is returned was true at one moment. */
fib_unwatched static bool read_suspended(const struct fiber *fiber, int64_t before,
					 struct view *ret)
{
	const uint64_t id = fib_observe(&fiber->id);
	const uint64_t seq = fib_load_acquire(&fiber->seq); /* pairs: record.seq */

	if (!id || !seq || (seq & 1) || fib_load(&fiber->state) != FIBER_SUSPENDED ||
	    fib_load(&fiber->since) > before || look(fiber->stack.class) == FIB_STACK_FOREIGN)
		return false;
	ret->low = (uint64_t)(uintptr_t)look(fiber->stack.low);
	ret->top = ret->low + look(fiber->stack.size);
	ret->sp = (uint64_t)look(fiber->context.sp);
	ret->sched = look(fiber->sched);
	ret->flags = look(fiber->flags);
	ret->carrier = look(fiber->carrier);
	fib_fence_acquire(); /* pairs: record.seq */
	return ret->low && ret->sp > ret->low && ret->sp <= ret->top &&
	       fib_load(&fiber->seq) == seq && fib_observe(&fiber->id) == id;
}

/* Whether only the calling thread, carrier c in a fiber, could run the fiber. */
static bool only_here(const struct fib_carrier *c, const struct view *v)
{
	if (v->sched != c->sched)
		return false;
	return c->sched->carrier_count == 1 || ((v->flags & FIBER_BOUND) && v->carrier == c->index);
}

static size_t drop_unused(const struct view *v)
{
	const uint64_t page = fib_os_page_size(), end = (v->sp - RED_ZONE) & ~(page - 1);

	return end > v->low ? fib_os_give_back(v->low, end - v->low) : 0;
}

static size_t advise(const struct view *v, unsigned flags)
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
	struct view view;
	size_t bytes = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (!read_suspended(fib_registry_at(i), before, &view))
			continue;
		if ((flags & FIBER_TRIM_UNUSED) && only_here(c, &view))
			bytes += drop_unused(&view);
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
