/* SPDX-License-Identifier: MIT */
/*
 * access.c - make the choice before an access, and look for a race
 *
 * A cell keeps the accesses with which a later one may race. Two accesses race if their bytes
 * overlap, one writes, not both are atomic, and the step of the earlier one is not in the clock of
 * the fiber that makes the later one (Flanagan and Freund, "FastTrack: Efficient and Precise
 * Dynamic Race Detection", PLDI 2009).
 *
 * A new access replaces an earlier one if whatever races with the earlier one later also races with
 * the new one: it has all its bytes, is a write if the earlier one is, is not atomic unless the
 * earlier one is, and happens after it. So a cell keeps few accesses, and no race is missed.
 */
#include "memory/access.h"

#include "base/compiler.h"
#include "choice.h"
#include "explore/explorer.h"
#include "explore/footprint.h"
#include "memory/actors.h"
#include "memory/arena.h"
#include "memory/private.h"
#include "memory/race.h"
#include "memory/shadow.h"

static bool looks;

void fib_access_looks_for_races(bool on)
{
	looks = on;
}

/* No fiber has touched it in this schedule, and it is neither a stack nor allocated in it. */
static fib_noinline bool take_first(struct fib_cell *cell, uintptr_t at, uint32_t me)
{
	if (fib_private_of_thread(at)) {
		cell->whose = FIB_CELL_IGNORED;
		return false;
	}
	if (fib_private_learning())
		fib_private_note(at, true);
	else if (!fib_private_has(at)) {
		cell->whose = FIB_CELL_SHARED;
		return true;
	}
	cell->whose = me;
	return false;
}

/* Note that the fiber touches it. Returns whether others have touched it, or will. */
static inline bool touch(struct fib_cell *cell, uintptr_t at, uint32_t me)
{
	if (fib_likely(cell->whose == me))
		return false;
	if (cell->whose == FIB_CELL_SHARED)
		return true;
	if (cell->whose == FIB_CELL_IGNORED)
		return false;
	if (cell->whose == FIB_CELL_UNTOUCHED)
		return take_first(cell, at, me);
	if (fib_private_learning())
		fib_private_note(at, false);
	else
		fib_private_contradict(at);
	cell->whose = FIB_CELL_SHARED;
	return true;
}

static inline bool precedes(const struct fib_seen *s, const struct fib_actor *me)
{
	return s->slot == me->slot || fib_clock_get(me->clock, s->slot) >= s->step;
}

static inline bool conflict(const struct fib_seen *s, uint8_t mask, unsigned kind)
{
	return (s->mask & mask) && ((s->kind | kind) & FIB_ACCESS_WRITES) &&
	       !(s->kind & kind & FIB_ACCESS_ATOMIC);
}

/* Whether an access of this kind to these bytes races with whatever s races with. */
static inline bool covers(uint8_t mask, unsigned kind, const struct fib_seen *s)
{
	return !(s->mask & ~mask) && (kind & FIB_ACCESS_WRITES || !(s->kind & FIB_ACCESS_WRITES)) &&
	       (!(kind & FIB_ACCESS_ATOMIC) || s->kind & FIB_ACCESS_ATOMIC);
}

/* Keep the access in the cell, in place of those that it covers. */
static void keep(struct fib_cell *cell, const struct fib_seen *access, const struct fib_actor *me)
{
	struct fib_seen **link = &cell->seen.more, *s, *place = NULL;

	if (!cell->seen.mask ||
	    (covers(access->mask, access->kind, &cell->seen) && precedes(&cell->seen, me)))
		place = &cell->seen;
	while ((s = *link)) {
		if (!covers(access->mask, access->kind, s) || !precedes(s, me)) {
			link = &s->more;
			continue;
		}
		*link = s->more;
		if (!place)
			place = s;
	}
	if (!place)
		place = fib_arena_take(sizeof *place);
	s = cell->seen.more;
	*place = *access;
	place->more = s;
	if (place != &cell->seen)
		cell->seen.more = place;
}

static void look_at_cell(struct fib_cell *cell, const struct fib_actor *me, uint8_t mask,
			 const struct fib_access *access)
{
	const struct fib_seen now = {.pc = access->pc,
				     .held = me->held,
				     .step = fib_actor_step(me),
				     .number = me->number,
				     .slot = (uint16_t)me->slot,
				     .mask = mask,
				     .kind = (uint8_t)access->kind};
	const struct fib_seen *s;

	if (cell->whose == FIB_CELL_IGNORED)
		return;
	/* The fiber has done the same since its last step. */
	if (cell->seen.slot == me->slot && cell->seen.step == now.step && cell->seen.mask &&
	    !(mask & ~cell->seen.mask) && cell->seen.kind == now.kind && !cell->seen.more)
		return;
	for (s = &cell->seen; s; s = s->more)
		if (conflict(s, mask, access->kind) && !precedes(s, me))
			fib_race_found(me, access, s);
	keep(cell, &now, me);
}

/* The bytes of the cell of `at` up to end. */
static inline uint8_t mask_of(uintptr_t at, uintptr_t end)
{
	const unsigned from = at & 7,
		       bytes = end - at >= 8u - from ? 8u - from : (unsigned)(end - at);

	return (uint8_t)(((1u << bytes) - 1) << from);
}

static bool touch_all(const struct fib_access *access, uint32_t me)
{
	const uintptr_t end = access->at + access->size;
	uintptr_t at;
	bool shared = false;

	for (at = access->at; at < end; at = (at | 7) + 1)
		shared |= touch(fib_shadow_cell(at), at, me);
	return shared;
}

static void look(struct fib_actor *me, const struct fib_access *access)
{
	const uintptr_t end = access->at + access->size;
	uintptr_t at;

	if (!looks)
		return;
	me->touched = fib_actor_step(me);
	for (at = access->at; at < end; at = (at | 7) + 1)
		look_at_cell(fib_shadow_cell(at), me, mask_of(at, end), access);
}

void fib_access(const void *at, size_t size, unsigned kind, const void *pc)
{
	const struct fib_access access = {(uintptr_t)at, size, kind, pc};
	struct fib_actor *me = fib_actor_self();

	if (!me)
		return;
	if (touch_all(&access, me->number))
		fib_explore_access(kind & FIB_ACCESS_WRITES ? "write" : "read", at, size,
				   kind & FIB_ACCESS_WRITES, pc);
	else
		fib_footprint_all(); /* another fiber may touch it later */
	look(me, &access);
}

struct fib_actor *fib_access_choose(const void *at, size_t size, const char *what, const void *pc)
{
	const struct fib_access access = {(uintptr_t)at, size, FIB_ACCESS_ATOMIC, pc};
	struct fib_actor *me = fib_actor_self();

	if (!me)
		return NULL;
	touch_all(&access, me->number);
	fib_explore_access(what, at, size, true, pc);
	return me;
}

struct fib_actor *fib_access_atomic(struct fib_actor *me, const void *at, size_t size, bool writes,
				    const void *pc)
{
	const struct fib_access access = {(uintptr_t)at, size,
					  FIB_ACCESS_ATOMIC | (writes ? FIB_ACCESS_WRITES : 0), pc};

	if (me)
		look(me, &access);
	return me;
}
