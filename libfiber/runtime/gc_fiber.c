/* SPDX-License-Identifier: MIT */
/*
 * gc_fiber.c - the memory in which one fiber keeps pointers
 *
 * A suspended fiber has its registers on its stack, above its saved stack pointer. The ABI lets it also
 * use the bytes of the red zone below that. Above the usable top there is only the colour.
 *
 * The argument is in the record alone until the fiber has called its function, which it does before it
 * leaves its first turn: while seq is 0 or 1. After that the function keeps what it needs of it; so an
 * object that it drops can be collected. A spawn that is stopped halfway has a record without an id, but
 * perhaps the only pointer in it. Such a record has seq 0. A free record does not, or its argument is
 * NULL: the last owner's seq ended with an even number above 0, and records that are given back before
 * they ran are cleared.
 *
 * While the carriers are stopped, the fibers that run are those with an odd seq. The stack pointer
 * of one of the carriers is on the stack of a fiber that really runs. If none is, its carrier is
 * between two fibers, or on a stack that is not the fiber's: then all of the stack is reported. A stack
 * pointer in a handler of libfiber has the registers above it; one in a fiber's own code has the red
 * zone below it, and the registers on the carrier's stack for signals.
 *
 * While fibers run, the record is copied between two readings of seq and id (record.seq). A record that
 * changes all the time is that of a fiber that runs.
 */
#include "runtime/gc_fiber.h"

#include "core/locals.h"
#include "life/cleanup.h"
#include "os/os.h"
#include "os/own_tls.h"
#include "watch/halt.h"

#define TRIES 4u

/* A field that its owner may write at this moment, without an atomic store. */
#define look(field) (*(const volatile __typeof__(field) *)&(field))

/* A copy of the record's fields. */
struct view {
	uint64_t id, seq;
	uint64_t low, top; /* of the stack; 0: it has none */
	uint64_t sp;	   /* saved; 0: not started, or exited */
	struct fib_locals *locals;
	struct fib_exit *exits;
	void *tls;
	bool moves; /* it changed while it was read */
};

int fib_gc_report(const struct fib_gc_walk *walk, struct fiber_gc_range *range)
{
	return range->low < range->high ? walk->fn(range, walk->arg) : 0;
}

fib_unwatched static void read_record(struct fiber *fiber, struct view *ret)
{
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		ret->id = fib_observe(&fiber->id);
		ret->seq = fib_load_acquire(&fiber->seq); /* pairs: record.seq */
		ret->low = (uint64_t)(uintptr_t)look(fiber->stack.low);
		ret->top = ret->low + look(fiber->stack.size) - look(fiber->stack.colour);
		ret->sp = (uint64_t)look(fiber->context.sp);
		ret->locals = look(fiber->locals);
		ret->exits = look(fiber->exits);
		ret->tls = look(fiber->tls);
		fib_fence_acquire(); /* pairs: record.seq */
		ret->moves =
			fib_load(&fiber->seq) != ret->seq || fib_observe(&fiber->id) != ret->id;
		if (!ret->moves)
			return;
	}
}

static bool within(uint64_t at, uint64_t low, uint64_t top)
{
	return at > low && at < top;
}

static uint64_t below_red_zone(uint64_t sp, uint64_t low)
{
	return sp - low > FIB_FRAME_RED_ZONE ? sp - FIB_FRAME_RED_ZONE : low;
}

/* Where the used part of a stack begins on which a stopped carrier may be; `low` if none is. */
static uint64_t used_by_carrier(const struct fib_gc_walk *walk, uint64_t low, uint64_t top)
{
	struct fib_carrier *c;

	if (within(walk->at, low, top))
		return walk->at;
	for (c = fib_halted(); c; c = c->halt.next) {
		if (fib_load(&c->halt.state) != FIB_HALT_HALTED)
			continue;
		if (within(c->halt.at, low, top))
			return c->halt.at;
		if (within(c->halt.sp, low, top))
			return below_red_zone(c->halt.sp, low);
	}
	return low;
}

static int report_stack(const struct fib_gc_walk *walk, const struct view *v,
			struct fiber_gc_range *range)
{
	uint64_t low = v->low;

	range->kind = FIBER_GC_STACK;
	if (v->moves || (v->seq & 1)) {
		range->flags = FIBER_GC_RUNNING;
		if (walk->stopped)
			low = used_by_carrier(walk, v->low, v->top);
	} else if (!v->sp) {
		return 0;
	} else if (v->sp > v->low && v->sp <= v->top) {
		low = below_red_zone(v->sp, v->low);
	} else {
		range->flags = FIBER_GC_ELSEWHERE;
	}
	range->low = (const void *)(uintptr_t)low;
	range->high = (const void *)(uintptr_t)v->top;
	return v->low ? fib_gc_report(walk, range) : 0;
}

static int report_word(const struct fib_gc_walk *walk, struct fiber_gc_range *range,
		       enum fiber_gc_kind kind, const void *word)
{
	range->kind = kind;
	range->low = word;
	range->high = (const char *)word + sizeof(void *);
	return fib_gc_report(walk, range);
}

/* Read memory of the fiber, which may free it meanwhile if the carriers are not stopped. */
static bool fetch(const struct fib_gc_walk *walk, const void *from, void *to, size_t size)
{
	if (!walk->stopped)
		return fib_os_peek((uint64_t)(uintptr_t)from, to, size) == 0;
	__builtin_memcpy(to, from, size);
	return true;
}

static int report_locals(const struct fib_gc_walk *walk, const struct fib_locals *locals,
			 struct fiber_gc_range *range)
{
	struct fib_locals head;

	if (!locals || !fetch(walk, locals, &head, sizeof head) || head.count > FIB_KEYS_MAX)
		return 0;
	range->kind = FIBER_GC_LOCALS;
	range->low = locals->at;
	range->high = locals->at + head.count;
	return fib_gc_report(walk, range);
}

static int report_exits(const struct fib_gc_walk *walk, struct fiber *fiber, const struct view *v,
			struct fiber_gc_range *range)
{
	const struct fib_exit *at = v->exits;
	struct fib_exit e;
	int rc = 0;

	for (; at && rc == 0 && fetch(walk, at, &e, sizeof e); at = e.before) {
		/* Freed memory may lead anywhere, also in a circle. */
		if (!walk->stopped && fib_load(&fiber->seq) != v->seq)
			break;
		rc = report_word(walk, range, FIBER_GC_EXIT_HANDLER, &at->arg);
	}
	return rc;
}

static int report_tls(const struct fib_gc_walk *walk, void *tls, struct fiber_gc_range *range)
{
	if (!tls || !walk->stopped)
		return 0;
	range->kind = FIBER_GC_THREAD_LOCALS;
	fib_os_own_tls_range(tls, &range->low, &range->high);
	return fib_gc_report(walk, range);
}

/* What is not on the stack. */
static int report_rest(const struct fib_gc_walk *walk, struct fiber *fiber, const struct view *v,
		       struct fiber_gc_range *range)
{
	int rc = 0;

	if (v->id && v->sp && !(v->seq & 1))
		rc = report_word(walk, range, FIBER_GC_REGISTER, &fiber->context.fp);
	if (rc == 0 && v->seq <= 1)
		rc = report_word(walk, range, FIBER_GC_ARGUMENT, &fiber->arg);
	if (rc == 0 && v->id)
		rc = report_word(walk, range, FIBER_GC_RESULT, &fiber->result.value);
	if (rc == 0)
		rc = report_locals(walk, v->locals, range);
	/* Without a stop, only a fiber that does not run has handlers that hold still. */
	if (rc == 0 && (walk->stopped || !(v->moves || (v->seq & 1))))
		rc = report_exits(walk, fiber, v, range);
	return rc == 0 ? report_tls(walk, v->tls, range) : rc;
}

int fib_gc_fiber(const struct fib_gc_walk *walk, struct fiber *fiber)
{
	struct fiber_gc_range range = {.record = fiber};
	struct view v;
	int rc;

	/* Without a stop, a spawn that is not complete belongs to a thread that runs. */
	if (!fib_observe(&fiber->id) && (!walk->stopped || fib_load(&fiber->seq)))
		return 0;
	read_record(fiber, &v);
	if (!v.id && (!walk->stopped || v.seq))
		return 0;
	range.fiber = v.id;
	range.seq = v.seq;
	rc = v.id ? report_stack(walk, &v, &range) : 0;
	range.flags &= FIBER_GC_RUNNING; /* the other is of the stack alone */
	return rc == 0 ? report_rest(walk, fiber, &v, &range) : rc;
}
