/* SPDX-License-Identifier: MIT */
/*
 * pinned.c - waits of pinned fibers, which block the carrier
 *
 * Blocking while pinned stops every fiber of the carrier, and is often a bug. The event goes into a
 * ring together with the stack, and the service thread prints it. The fiber itself is delayed only
 * by a copy of a few kilobytes.
 *
 * A slot belongs to the event whose number it holds. A writer takes a number, makes the slot's seq
 * odd, fills the slot and makes seq even. If 256 pinned waits start at once, two writers can meet
 * in a slot: a writer that finds the slot taken, or a later number in it, drops its event. Dropped
 * and overwritten events are counted: every recorded event is in the ring or among the dropped.
 */
#include "wait/pinned.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "core/fiber_text.h"
#include "core/registry.h"
#include "os/os.h"
#include "probe.h"
#include "sched/observer.h"
#include "sched/sched.h"

#define NO_EVENT     UINT64_MAX
#define REPORT_EVERY INT64_C(1000000000)

static _Atomic uint64_t stamps; /* A: events recorded in all rings */

int fib_pinned_init(struct fib_pinned *p, enum fiber_pinned_policy policy)
{
	void *events;
	int rc = fib_os_map_stacks(FIB_PINNED_EVENTS * sizeof(struct fib_pinned_event), &events);

	if (rc < 0)
		return rc;
	memset(p, 0, sizeof *p);
	fib_store(&p->policy, (uint32_t)policy);
	p->events = events;
	return 0;
}

void fib_pinned_release(struct fib_pinned *p)
{
	fib_os_unmap(p->events, FIB_PINNED_EVENTS * sizeof(struct fib_pinned_event));
}

/* Runs below the caller's frames, which the context describes. */
static void copy_stack(void *arg)
{
	struct fib_pinned_event *e = arg;
	struct fiber *fiber = fib_carrier_self()->current;
	uint64_t top = (uint64_t)(uintptr_t)fiber->stack.low + fiber->stack.size;
	uint64_t size = top - e->context.sp;

	if (size > top - (uint64_t)(uintptr_t)fiber->stack.low)
		size = 0;
	e->stack_all = size;
	e->stack_size = (uint32_t)(size < FIB_PINNED_STACK ? size : FIB_PINNED_STACK);
	fib_context_copy_frames(e->stack, e->context.sp, e->stack_size);
}

/*
 * Own the slot until its seq is even again; *ret_seq: the odd number. False: it stays another
 * writer's.
 */
static bool take_slot(struct fib_pinned *p, struct fib_pinned_event *e, uint64_t number,
		      uint64_t *ret_seq)
{
	uint64_t seq = fib_load(&e->seq);

	if ((seq & 1) || !fib_cas(&e->seq, &seq, seq + 1)) {
		fib_add_relaxed(&p->dropped, 1);
		return false;
	}
	/* Either this event or the one in the slot is dropped. */
	if (seq)
		fib_add_relaxed(&p->dropped, 1);
	if (seq && e->number > number) {
		fib_store_release(&e->seq, seq + 2);
		return false;
	}
	/* The odd number is stored before anything of the event changes. */
	fib_fence_release();
	*ret_seq = seq + 1;
	return true;
}

static uint64_t record(struct fiber *fiber, enum fib_wait_kind kind, int64_t duration)
{
	struct fib_pinned *p = &fiber->sched->pinned;
	uint64_t number = fib_add_relaxed(&p->recorded, 1);
	struct fib_pinned_event *e = &p->events[number % FIB_PINNED_EVENTS];
	uint64_t seq;

	if (!take_slot(p, e, number, &seq))
		return NO_EVENT;
	e->number = number;
	e->stamp = fib_add_relaxed(&stamps, 1);
	e->fiber = fiber->id;
	e->began = fib_os_now();
	e->duration = duration;
	e->object = fiber->wait_object;
	e->arg = fiber->wait_arg;
	e->kind = kind;
	memcpy(e->name, fiber->name, sizeof e->name);
	e->entry = (uint64_t)(uintptr_t)fiber->fn;
	fib_arch_capture(&e->context, copy_stack, e);
	/* A reader that finds seq even and unchanged has read a whole event. */
	fib_store_release(&e->seq, seq + 1);
	fib_observer_hurry();
	return number;
}

int fib_pinned_consult(struct fiber *fiber, enum fib_wait_kind kind)
{
	struct fib_pinned *p = &fiber->sched->pinned;

	if (fib_load(&p->policy) != FIBER_PINNED_ERROR)
		return 0;
	fib_probe2(pinned, fiber->id, fib_probe_byte(&fiber->wait_kind));
	fib_add_relaxed(&p->count, 1);
	record(fiber, kind, 0);
	return -EDEADLK;
}

uint64_t fib_pinned_begin(struct fiber *fiber, enum fib_wait_kind kind)
{
	struct fib_pinned *p = &fiber->sched->pinned;

	fib_probe2(pinned, fiber->id, fib_probe_byte(&fiber->wait_kind));
	fib_add_relaxed(&p->count, 1);
	fib_recorder_pinned(fiber, true);
	if (fib_load(&p->policy) == FIBER_PINNED_SILENT)
		return NO_EVENT;
	return record(fiber, kind, -1);
}

void fib_pinned_end(struct fiber *fiber, uint64_t event)
{
	struct fib_pinned *p = &fiber->sched->pinned;
	struct fib_pinned_event *e = &p->events[event % FIB_PINNED_EVENTS];
	uint64_t seq;

	fib_recorder_pinned(fiber, false);
	if (event == NO_EVENT)
		return;
	seq = fib_load(&e->seq);
	if ((seq & 1) || !fib_cas(&e->seq, &seq, seq + 1))
		return;
	if (e->number == event)
		fib_publish(&e->duration, fib_os_now() - e->began);
	fib_store_release(&e->seq, seq + 2);
}

_Static_assert(sizeof(struct fib_pinned_event) % sizeof(uint64_t) == 0 &&
		       offsetof(struct fib_pinned_event, context) % sizeof(uint64_t) == 0,
	       "copied in words");

/* A writer may write during the copy; the caller finds out from seq. */
fib_unwatched static void copy_words(void *to, const void *from, size_t size)
{
	const volatile uint64_t *word = from;
	uint64_t *at = to;
	size_t i;

	for (i = 0; i < size / sizeof *at; i++)
		at[i] = word[i];
}

/* Copy the newest event without its stack. False while it is written: the next tick prints it. */
static bool copy_newest(struct fib_pinned *p, uint64_t recorded, struct fib_pinned_event *ret)
{
	struct fib_pinned_event *e = &p->events[(recorded - 1) % FIB_PINNED_EVENTS];
	uint64_t seq = fib_load_acquire(&e->seq);

	if (seq & 1)
		return false;
	copy_words(ret, e, offsetof(struct fib_pinned_event, context));
	ret->name[sizeof ret->name - 1] = 0;
	fib_fence_acquire();
	return fib_load(&e->seq) == seq && ret->kind < FIB_WAIT_COUNT;
}

int fib_pinned_copy(struct fib_pinned *p, unsigned slot, struct fib_pinned_event *ret)
{
	struct fib_pinned_event *e = &p->events[slot];
	uint64_t seq = fib_load_acquire(&e->seq);

	if (!seq)
		return -ENOENT;
	if (seq & 1)
		return -EAGAIN;
	copy_words(ret, e, sizeof *ret);
	ret->name[sizeof ret->name - 1] = 0;
	fib_fence_acquire();
	return fib_load(&e->seq) == seq ? 0 : -EAGAIN;
}

uint64_t fib_pinned_stamps(void)
{
	return fib_load(&stamps);
}

void fib_pinned_report(struct fib_pinned *p, int64_t now, struct fib_os_pipe *pipe(void))
{
	uint64_t recorded = fib_load_acquire(&p->recorded);
	struct fib_pinned_event e;
	char name[FIB_LOG_NAME];

	if (recorded == p->reported || now - p->reported_at < REPORT_EVERY || !fib_os_may_print() ||
	    !copy_newest(p, recorded, &e))
		return;
	fib_log("fiber %llu %s waits while pinned and %s (%s; %llu since the last line)",
		(unsigned long long)e.fiber, fib_fiber_text(name, e.name, e.entry, pipe()),
		e.duration == 0 ? "is refused" : "blocks its carrier",
		fiber_registry.wait_names[e.kind], (unsigned long long)(recorded - p->reported));
	p->reported = recorded;
	p->reported_at = now;
}
