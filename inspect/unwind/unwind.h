/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - the room unwind/: the frames of one fiber that does not run
 *
 * Takes: a fiber that a source copied (model/source.h): registers, bytes of its stack, modules.
 * Gives: a walk: the addresses of its frames, innermost first, and why it ends where it does.
 * Used by: every higher room but waits/; tool/, fiberctl/ and fibertrace/.
 *
 * A walk starts at the registers and stack bytes that a source copied and ends, when it is whole,
 * in the routine every fiber starts in (layout.entry_low). libunwind walks first; when it does not
 * arrive there, libdw walks; when that does not either, the longer walk is kept, marked truncated
 * and says why. A truncated walk is never presented as a whole one.
 */
#ifndef INS_UNWIND_H
#define INS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/text/error.h"
#include "inspect/model/source.h"

#define INS_WALK_MAX 256

struct ins_walk {
	unsigned count;
	bool truncated;
	unsigned limit;		   /* frames to show of it, inlined ones counted; 0: all */
	unsigned left, left_least; /* frames beyond the limit; of a group the most and the least */
	char reason[160];	   /* why truncated, or why there is no stack to walk; else "" */
	uint64_t interrupted[INS_WALK_MAX /
			     64];  /* bit n: frame n goes on at its pc, where a signal came */
	uint64_t pc[INS_WALK_MAX]; /* innermost first */
};

/* Whether the pc of a frame is where a call returns to, so that the byte before it is meant. */
static inline bool ins_walk_returned(const struct ins_walk *walk, unsigned frame)
{
	return frame > 0 && !(walk->interrupted[frame / 64] >> frame % 64 & 1);
}

struct ins_unwinder;

/* For fibers of one source, which is borrowed. One thread. -ENOMEM, -ENOTSUP. */
int ins_unwinder_new(struct ins_source *source, struct ins_unwinder **ret);
void ins_unwinder_free(struct ins_unwinder *unwinder);

/* From here on walk every fiber with the unwinders: for whoever doubts the cache. */
void ins_unwinder_drop_cache(struct ins_unwinder *unwinder);

/*
 * Walk a fiber that was read with stacks. A running or dead one has no frames, is not truncated and
 * reason says so. Adds the reason of a truncated walk to the source's problems.
 */
void ins_unwind(struct ins_unwinder *unwinder, const struct ins_fiber *fiber, struct ins_walk *ret);

/* Walk a plain thread (INS_FIBER_THREAD): whole is what ends in a frame of which the unwind information says that nobody
 * called it. Else as above. */
void ins_unwind_thread(struct ins_unwinder *unwinder, const struct ins_fiber *thread,
		       struct ins_walk *ret);

/* Walk a fiber or a thread with a stack by libunwind alone. Whether the walk is whole; else *ret says nothing, and it is no problem. */
bool ins_unwind_whole(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		      struct ins_walk *ret);

/* Where the function that has pc begins. False: no unwind information says so. */
bool ins_unwind_function(struct ins_unwinder *unwinder, uint64_t pc, uint64_t *ret);

/* The source that its fibers are of. */
struct ins_source *ins_unwind_source(struct ins_unwinder *unwinder);

#endif
