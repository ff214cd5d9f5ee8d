/* SPDX-License-Identifier: MIT */
/*
 * unwind_nothing.h - who called a function that is not there
 *
 * A call through a pointer that is 0, or leads into data, ends a program in no function at all: unwind information ends where
 * the walk should begin. But where no code can be none was executed, so that the stack is as the call has left it, and where that
 * returns to is the last thing on it. That is certain of whoever a signal stopped there, and of nobody else: a return address that
 * leads to nothing is a damaged stack. So this asks what was executable, as far as the
 * source knows.
 */
#ifndef INS_UNWIND_NOTHING_H
#define INS_UNWIND_NOTHING_H

#include <libunwind.h>

#include "inspect/model/registers.h"
#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"
#include "inspect/unwind/unwind_dw.h"

/* Whether the last frame was stopped by a signal where no code can be. */
static bool at_nothing(struct ins_source *source, struct ins_unwind_dw *dw,
		       const struct ins_fiber *fiber, const struct ins_walk *walk)
{
	const unsigned last = walk->count - 1;

	if (!source->no_code || !(fiber->flags & INS_FIBER_PAUSED) ||
	    !source->no_code(source, walk->pc[last]))
		return false;
	return last == 0 || ins_unwind_dw_of_signal(dw, walk->pc[last - 1]);
}

/* Step to whom the call returns to: *ret are the registers there, *ret_back its address. */
static bool hop_back(struct ins_source *source, const struct ins_fiber *fiber, unw_cursor_t *cursor,
		     struct ins_registers *ret, unw_word_t *ret_back)
{
#if defined(__x86_64__)
	struct ins_registers there; /* the cursor still reads *ret */
	unw_word_t sp, value;
	unsigned i;

	if (unw_get_reg(cursor, UNW_X86_64_RSP, &sp) < 0 ||
	    ins_source_memory(source, fiber, sp, ret_back, sizeof *ret_back) < 0 || !*ret_back)
		return false;
	/* In the call, whose rules are the caller's: behind it may be another function. */
	ins_registers_make(&there, *ret_back - 1, sp + sizeof *ret_back, 0, NULL);
	for (i = 0; i < UNW_X86_64_RIP; i++)
		if (i != UNW_X86_64_RSP && unw_get_reg(cursor, (int)i, &value) == 0)
			ins_registers_set(&there, i, value);
	*ret = there;
	return true;
#else
	(void)source, (void)fiber, (void)cursor, (void)ret, (void)ret_back;
	return false;
#endif
}

#endif
