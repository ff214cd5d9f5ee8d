/* SPDX-License-Identifier: MIT */
/* unwind_end.h - where a walk has ended: whose the last frame is, and why it is the last. */
#ifndef INS_UNWIND_END_H
#define INS_UNWIND_END_H

#include <fiber/fiber.h>
#include <libunwind.h>
#include <stdio.h>

#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"
#include "inspect/unwind/unwind_dw.h"

/* Whether the last frame is the routine that every fiber starts in. */
static bool arrived(const struct fib_layout *layout, const struct ins_walk *walk)
{
	uint64_t pc;

	if (!walk->count)
		return false;
	pc = walk->pc[walk->count - 1] - (walk->count > 1);
	return pc >= layout->entry_low && pc < layout->entry_high;
}

/* Whether the walk has come to where it should: a fiber's to its entry, a plain thread's to a frame that nobody called. */
static bool ended(struct ins_unwind_dw *dw, const struct ins_fiber *fiber,
		  const struct ins_walk *walk)
{
	const unsigned last = walk->count - 1;

	if (!(fiber->flags & INS_FIBER_THREAD) || arrived(&dw->source->layout, walk))
		return arrived(&dw->source->layout, walk);
	return walk->count &&
	       ins_unwind_dw_outermost(dw, walk->pc[last] - ins_walk_returned(walk, last));
}

/* Whether sp has left the stack that a signal handler has to itself for the fiber's. */
static bool came_home(const struct ins_fiber *fiber, uint64_t from, uint64_t sp)
{
	const struct fib_row *row = &fiber->row;

	return (fiber->flags & INS_FIBER_PAUSED) && from - row->stack_low > row->stack_size &&
	       sp - row->stack_low <= row->stack_size;
}

/* Whether what a thread ran on this stack is the fiber's. One that has just ended there, while this one is about to begin,
 * has another record in the register with which the outermost routine begins what a fiber does first (arch/). */
static bool owns(const struct fib_layout *layout, const struct ins_fiber *fiber,
		 unw_cursor_t *outermost, uint64_t sp)
{
	const struct fib_row *row = &fiber->row;
	unw_word_t record = row->record;

	if (!(fiber->flags & INS_FIBER_PAUSED))
		return true;
	if (sp - row->stack_low > row->stack_size)
		return false;
#if defined(__x86_64__)
	if (unw_get_reg(outermost, UNW_X86_64_R12, &record) < 0)
		return true;
#endif
	return record == row->record ||
	       record - layout->records >= layout->committed * layout->record_size;
}

/* A suspended fiber's stack has at least a return address, and that near its stack pointer. */
static bool all_zero(const struct ins_fiber *fiber)
{
	const size_t most = 64u << 10;
	size_t i;

	for (i = 0; fiber->stack && i < fiber->stack_size && i < most; i++) {
		if (fiber->stack[i])
			return false;
	}
	return true;
}

/* Say why a walk is truncated. */
static void explain(struct ins_modules *modules, struct ins_unwind_dw *dw,
		    const struct ins_fiber *fiber, struct ins_walk *walk)
{
	const unsigned last = walk->count ? walk->count - 1 : 0;
	uint64_t pc = walk->count ? walk->pc[last] - ins_walk_returned(walk, last) : fiber->row.pc;
	const struct ins_module *m = ins_modules_find(modules, pc);
	const char *path = m && m->path[0] ? m->path : "a module without a name";
	const bool covered = m && ins_unwind_dw_covers(dw, pc);

	if (fiber->flags & INS_FIBER_GONE)
		snprintf(walk->reason, sizeof walk->reason, "its stack could not be read");
	else if (all_zero(fiber))
		snprintf(walk->reason, sizeof walk->reason,
			 "its stack was not saved: all of it is zero (gdb's gcore stops at guard "
			 "pages; the kernel's cores do not)");
	else if (walk->count == INS_WALK_MAX)
		snprintf(walk->reason, sizeof walk->reason, "deeper than %d frames", INS_WALK_MAX);
	else if (!m)
		snprintf(walk->reason, sizeof walk->reason,
			 "no module at 0x%llx: code made at run time or unloaded, or a damaged "
			 "stack",
			 (unsigned long long)pc);
	else if (!m->bytes && m->other)
		snprintf(walk->reason, sizeof walk->reason,
			 "the file that is now %.100s is not the one that ran", path);
	else if (!m->bytes && m->denied)
		snprintf(walk->reason, sizeof walk->reason,
			 "the file of %.100s may not be read: run this as its user or root", path);
	else if (!m->bytes)
		snprintf(walk->reason, sizeof walk->reason, "the file of %.100s is missing", path);
	else if (fiber->flags & INS_FIBER_CUT)
		snprintf(walk->reason, sizeof walk->reason,
			 "the outer part of its stack could not be copied");
	else
		snprintf(walk->reason, sizeof walk->reason, "%s for 0x%llx in %.80s+0x%llx%s",
			 covered ? "the unwind information" : "no unwind information",
			 (unsigned long long)pc, path, (unsigned long long)(pc - m->bias),
			 covered ? " leads nowhere" : "");
}

#endif
