/* SPDX-License-Identifier: MIT */
/*
 * library_frames.c - mark the frames of a walk that are of the fiber library
 *
 * A walk has runs of consecutive frames of the library: below the program's innermost function,
 * where the fiber waits; around a callback; and above the fiber's first function.
 *
 *	fib_arch_switch   internal
 *	fib_wait          internal
 *	fiber_mutex_lock  called: the outermost frame of a run is what the program called
 *	worker            the program's
 *	fib_fiber_main    internal
 *	fib_arch_entry    the entry
 *
 * The entry is the frame in which every walk ends. The library's frames between it and the program's
 * first function are internal. If that function ends with a call, no frame of it may be left: then one
 * frame is internal, unless it is the only one, because another library's entry calls the fiber's first
 * function itself.
 */
#include "inspect/unwind/library_frames.h"

#include <string.h>

static bool is_library(const struct ins_walk *walk, const struct fib_layout *layout, unsigned i)
{
	return fib_layout_is_internal(layout, walk->pc[i] - ins_walk_returned(walk, i));
}

static void set(uint64_t bits[], unsigned i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool is_entry(const struct ins_walk *walk, const struct fib_layout *layout, unsigned i)
{
	const uint64_t pc = walk->pc[i] - ins_walk_returned(walk, i);

	return pc >= layout->entry_low && pc < layout->entry_high;
}

/* Mark the frames of the library before frame `end`. */
static void mark_runs(struct ins_walk *walk, const struct fib_layout *layout, unsigned end)
{
	unsigned i;

	for (i = 0; i < end; i++) {
		if (!is_library(walk, layout, i))
			continue;
		if (i + 1 == end || !is_library(walk, layout, i + 1))
			set(walk->code.called, i);
		else
			set(walk->code.internal, i);
	}
}

/* Mark the library's frames inside the entry, which is frame `end`. Returns the first of them. */
static unsigned mark_beginning(struct ins_walk *walk, const struct fib_layout *layout, unsigned end)
{
	unsigned first = end;

	while (first > 0 && is_library(walk, layout, first - 1))
		first--;
	if (first == 0)
		first = end > 1 ? end - 1 : end;
	for (unsigned i = first; i < end; i++)
		set(walk->code.internal, i);
	return first;
}

void ins_walk_mark(struct ins_walk *walk, const struct fib_layout *layout)
{
	unsigned end = walk->count;

	memset(&walk->code, 0, sizeof walk->code);
	walk->code.known = fib_layout_has_code(layout);
	if (!walk->code.known)
		return;
	if (end > 1 && is_entry(walk, layout, end - 1)) {
		walk->code.entry = end--;
		end = mark_beginning(walk, layout, end);
	}
	mark_runs(walk, layout, end);
}

static unsigned next_shown(const struct ins_walk *walk, unsigned i)
{
	while (i < walk->count && ins_walk_hidden(walk, i))
		i++;
	return i;
}

bool ins_walk_equal(const struct ins_walk *a, const struct ins_walk *b)
{
	unsigned i = next_shown(a, 0), k = next_shown(b, 0);

	while (i < a->count && k < b->count && a->pc[i] == b->pc[k]) {
		i = next_shown(a, i + 1);
		k = next_shown(b, k + 1);
	}
	return i == a->count && k == b->count;
}
