/* SPDX-License-Identifier: MIT */
/* unwind_end.c - judge the end of a walk: whether it is whole, and if not, why */
#include "inspect/unwind/unwind_end.h"

#include <stdio.h>

bool ins_walk_arrived(const struct fib_layout *layout, const struct ins_walk *walk)
{
	uint64_t pc;

	if (!walk->count)
		return false;
	pc = walk->pc[walk->count - 1] - (walk->count > 1);
	return pc >= layout->entry_low && pc < layout->entry_high;
}

/* Some libraries convert a thread into a fiber. It runs no function of a fiber, and its stack is the
 * thread's. */
static bool ends_as_thread(const struct ins_fiber *fiber)
{
	return fiber->flags & INS_FIBER_THREAD || !fiber->row.entry;
}

bool ins_walk_ended(struct ins_unwind_dw *dw, const struct ins_fiber *fiber,
		    const struct ins_walk *walk)
{
	const unsigned last = walk->count - 1;

	if (!ends_as_thread(fiber) || ins_walk_arrived(&dw->source->layout, walk))
		return ins_walk_arrived(&dw->source->layout, walk);
	return walk->count &&
	       ins_unwind_dw_outermost(dw, walk->pc[last] - ins_walk_returned(walk, last));
}

/* A suspended fiber's stack has at least a return address, near its stack pointer. */
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

void ins_walk_explain(struct ins_modules *modules, struct ins_unwind_dw *dw,
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
