/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - walk a copied stack
 *
 * libunwind walks first (unwind_lu.h). libdw (unwind_dw.h) walks what libunwind cannot.
 *
 * The danger is a walk that ends early and looks whole. libunwind ends cleanly, with one frame,
 * where a module has no .eh_frame_hdr, and guesses by frame pointers where it has no unwind
 * information. So a walk counts as whole only if every step had a rule and the last frame is the
 * routine that every fiber starts in. Any other walk is repeated with libdw. If that is not whole
 * either, the longer of the two is marked truncated, with the reason.
 *
 * A whole walk leaves the rules of its steps in a cache (walk_cache.h). The next fiber in the same
 * places is walked by these rules first.
 */
#include "inspect/unwind/unwind.h"

#include <errno.h>
#include <fiber/fiber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/unwind/library_frames.h"
#include "inspect/unwind/unwind_dw.h"
#include "inspect/unwind/unwind_end.h"
#include "inspect/unwind/unwind_lu.h"
#include "inspect/unwind/walk_cache.h"

struct ins_unwinder {
	struct ins_source *source;
	struct ins_unwind_lu lu;
	struct ins_unwind_dw dw;
	struct ins_walk second;	      /* libdw's */
	struct ins_walk_cache *cache; /* NULL: without one */
	bool hide;		      /* of each walk */
};

int ins_unwinder_new(struct ins_source *source, struct ins_unwinder **ret)
{
	struct ins_unwinder *u = calloc(1, sizeof *u);

	if (!u)
		return -ENOMEM;
	u->source = source;
	u->dw.source = source;
	if (ins_unwind_lu_begin(&u->lu, source, &u->dw) < 0 ||
	    ins_walk_cache_new(source, &u->cache) < 0) {
		ins_unwinder_free(u);
		return -ENOMEM;
	}
	*ret = u;
	return 0;
}

void ins_unwinder_free(struct ins_unwinder *unwinder)
{
	if (!unwinder)
		return;
	ins_unwind_lu_free(&unwinder->lu);
	ins_walk_cache_free(unwinder->cache);
	free(unwinder);
}

void ins_unwinder_drop_cache(struct ins_unwinder *unwinder)
{
	ins_walk_cache_free(unwinder->cache);
	unwinder->cache = NULL;
}

/*
 * Walk with libunwind, which knows only this machine. True: the walk is whole. Of another machine,
 * the walk has the first frame.
 */
static bool walk_here(struct ins_unwinder *u, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	if (ins_machine_is_self(u->source->modules->machine)) {
		ins_unwind_lu(&u->lu, fiber, ret);
		return !u->lu.lost && ins_walk_ended(&u->dw, fiber, ret);
	}
	ins_unwind_lu_none(&u->lu, fiber);
	ret->pc[0] = fiber->row.pc;
	ret->count = 1;
	return false;
}

/* Walk with both unwinders as far as needed. True: the walk is whole. */
static bool walk_both(struct ins_unwinder *u, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	if (walk_here(u, fiber, ret))
		return true;
	if (!fiber->stack)
		return false;
	ins_unwind_dw(&u->dw, fiber, &u->second);
	if (ins_walk_ended(&u->dw, fiber, &u->second) || u->second.count > ret->count) {
		u->lu.foreign = u->dw.foreign;
		ret->count = u->second.count;
		memcpy(ret->pc, u->second.pc, ret->count * sizeof ret->pc[0]);
	}
	return ins_walk_ended(&u->dw, fiber, ret);
}

static bool walk_whole(struct ins_unwinder *u, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	const bool whole = walk_both(u, fiber, ret);

	ins_unwind_dw_signals(&u->dw, ret);
	return whole;
}

#define SWITCHING "it was caught in the middle of a switch"
#define OUTSIDE	  SWITCHING ", or its stack pointer is outside its stack"

/*
 * Walk a running fiber: its thread was stopped, or it is between two threads. Frames that may
 * belong to another fiber are not shown.
 */
static void walk_running(struct ins_unwinder *u, const struct ins_fiber *fiber,
			 struct ins_walk *ret)
{
	const struct fib_row *row = &fiber->row;
	const bool paused = fiber->flags & INS_FIBER_PAUSED;
	const bool whole = fiber->stack && walk_whole(u, fiber, ret);
	const bool home = paused && (u->lu.home || row->sp - row->stack_low <= row->stack_size);
	/* No switch takes half a second. */
	const bool outside = paused ? !home : !fiber->stack && row->age > 500000000;

	if (paused && whole && !u->lu.foreign)
		return;
	ret->truncated = true;
	if (paused && (u->lu.foreign || (!home && !whole)))
		ret->count = 0;
	if (home && !u->lu.foreign)
		ins_walk_explain(u->source->modules, &u->dw, fiber, ret);
	else
		snprintf(ret->reason, sizeof ret->reason, "%s", outside ? OUTSIDE : SWITCHING);
	ins_problems_add(&u->source->problems, "a backtrace is truncated: %s", ret->reason);
}

static void begin(struct ins_walk *ret)
{
	memset(ret, 0, sizeof *ret - sizeof ret->pc);
}

static void call_truncated(struct ins_unwinder *u, const struct ins_fiber *fiber,
			   struct ins_walk *ret)
{
	ret->truncated = true;
	ins_walk_explain(u->source->modules, &u->dw, fiber, ret);
	ins_problems_add(&u->source->problems, "a backtrace is truncated: %s", ret->reason);
}

void ins_unwinder_hide(struct ins_unwinder *unwinder, bool hide)
{
	unwinder->hide = hide;
}

/* Set code and hide. */
static void mark(struct ins_unwinder *unwinder, struct ins_walk *walk)
{
	ins_walk_mark(walk, &unwinder->source->layout);
	walk->hide = unwinder->hide;
}

static void walk_fiber(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		       struct ins_walk *ret)
{
	const struct fib_layout *layout = &unwinder->source->layout;

	begin(ret);
	if (!fib_row_walkable(&fiber->row) && !fib_row_not_started(&fiber->row) &&
	    !(fiber->flags & (INS_FIBER_PAUSED | INS_FIBER_SWITCHING))) {
		ret->truncated = fib_row_astray(&fiber->row);
		snprintf(ret->reason, sizeof ret->reason, "%s",
			 fiber->row.state == FIBER_DEAD ? "it has ended"
			 : ret->truncated		? "its stack pointer is outside its stack"
			 : fiber->row.state == FIBER_RUNNING
				 ? "it runs: its stack does not hold still"
				 : "it has no stack");
		if (ret->truncated)
			ins_problems_add(&unwinder->source->problems,
					 "a backtrace is truncated: %s", ret->reason);
		return;
	}
	if (layout->recipe != FIB_RECIPE_CFI && layout->recipe != FIB_RECIPE_SAVED) {
		ret->truncated = true;
		snprintf(ret->reason, sizeof ret->reason,
			 "stacks of port \"%s\" cannot be walked yet", layout->port);
		ins_problems_add(&unwinder->source->problems, "no backtrace: %s", ret->reason);
		return;
	}
	if (fiber->flags & (INS_FIBER_PAUSED | INS_FIBER_SWITCHING)) {
		walk_running(unwinder, fiber, ret);
		return;
	}
	if (fib_row_not_started(&fiber->row)) {
		/*
		 * The fiber has not started: its entry is its only frame, which is enough to group
		 * by.
		 */
		ret->pc[ret->count++] = fiber->row.entry;
		return;
	}
	if (unwinder->cache && ins_walk_cache_walk(unwinder->cache, fiber, ret))
		return;
	if (walk_whole(unwinder, fiber, ret)) {
		if (unwinder->cache)
			ins_walk_cache_learn(unwinder->cache, fiber, ret);
		return;
	}
	call_truncated(unwinder, fiber, ret);
}

void ins_unwind(struct ins_unwinder *unwinder, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	walk_fiber(unwinder, fiber, ret);
	mark(unwinder, ret);
}

void ins_unwind_thread(struct ins_unwinder *unwinder, const struct ins_fiber *thread,
		       struct ins_walk *ret)
{
	begin(ret);
	if (!walk_whole(unwinder, thread, ret))
		call_truncated(unwinder, thread, ret);
	mark(unwinder, ret);
}

bool ins_unwind_whole(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		      struct ins_walk *ret)
{
	begin(ret);
	if (!walk_here(unwinder, fiber, ret))
		return false;
	mark(unwinder, ret);
	return true;
}

bool ins_unwind_function(struct ins_unwinder *unwinder, uint64_t pc, uint64_t *ret)
{
	return ins_unwind_lu_function(&unwinder->lu, pc, ret);
}

struct ins_source *ins_unwind_source(struct ins_unwinder *unwinder)
{
	return unwinder->source;
}
