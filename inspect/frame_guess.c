/* SPDX-License-Identifier: MIT */
/*
 * frame_guess.c - the stack of a thread that sleeps in the system, whose frame pointer nobody knows
 *
 * The kernel says where the stack is and not what is in the other registers. Most code needs none of them: its unwind
 * information counts from the stack pointer. Code that keeps a frame pointer (built without optimisation, or with a frame
 * of variable size) does need it, unless something below has saved it. Then the frame pointer is looked for: it points into
 * this stack, to where the caller's was saved, with a return address above it.
 *
 * An old frame that nobody uses any more may look the same. So a guess is believed only if the walk is whole with it, and if
 * the call before the return address, where it says whom it calls, calls the function that the walk was in. Of those
 * that hold the lowest one is meant: callers' frames are above.
 */
#include "inspect/frame_guess.h"

#include <elf.h>
#include <string.h>

#include "inspect/image.h"
#include "inspect/plt.h"

static uint64_t word_at(const struct ins_fiber *fiber, size_t at)
{
	uint64_t word;

	memcpy(&word, fiber->stack + at, sizeof word);
	return word;
}

/* A record: the caller's frame pointer, which is further up or was never set, and a return address. */
static bool plausible(struct ins_source *source, const struct ins_fiber *fiber, size_t at)
{
	const uint64_t here = fiber->row.sp + at;
	const uint64_t saved = word_at(fiber, at), back = word_at(fiber, at + 8);
	const uint64_t top = fiber->row.sp + fiber->row.stack_size;

	if (saved && (saved <= here || saved >= top))
		return false;
	return back && ins_modules_find(source->modules, back) != NULL;
}

/* Where the call before `back` goes to, 0 when it does not say, or goes through a table. x86-64. */
static uint64_t target_of(struct ins_source *source, uint64_t back)
{
	unsigned char code[5], stub[8];
	int32_t distance;
	uint64_t to;
	size_t at;

	if (ins_machine_self() != EM_X86_64 ||
	    ins_source_memory(source, NULL, back - sizeof code, code, sizeof code) < 0 ||
	    code[0] != 0xe8)
		return 0;
	memcpy(&distance, code + 1, sizeof distance);
	to = back + (uint64_t)(int64_t)distance;
	if (ins_source_memory(source, NULL, to, stub, sizeof stub) < 0)
		return 0;
	return ins_plt_jumps(stub, sizeof stub, &at) ? 0 : to;
}

/* Whether the walk came to `back` out of a function that is called there. */
static bool called(struct ins_unwinder *unwinder, struct ins_source *source,
		   const struct ins_walk *walk, uint64_t back)
{
	uint64_t to = target_of(source, back), begin, inner;
	unsigned i;

	for (i = 1; i < walk->count && walk->pc[i] != back; i++)
		;
	if (i >= walk->count)
		return false;
	if (!to)
		return true;
	inner = walk->pc[i - 1] - (i > 1);
	return !ins_unwind_function(unwinder, inner, &begin) || begin == to;
}

bool ins_frame_guess(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		     struct ins_walk *ret)
{
	struct ins_source *source = ins_unwind_source(unwinder);
	struct ins_fiber guess = *fiber;
	size_t at;

	guess.row.fp = 0;
	if (ins_unwind_whole(unwinder, &guess, ret))
		return true;
	for (at = 0; at + 16 <= fiber->stack_size; at += 8) {
		if (!plausible(source, fiber, at))
			continue;
		guess.row.fp = fiber->row.sp + at;
		if (ins_unwind_whole(unwinder, &guess, ret) &&
		    called(unwinder, source, ret, word_at(fiber, at + 8)))
			return true;
	}
	return false;
}
