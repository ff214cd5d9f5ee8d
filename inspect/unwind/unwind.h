/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - the room unwind/: the frames of one fiber that does not run
 *
 * Takes: a fiber that a source copied (model/source.h): registers, bytes of its stack, modules.
 * Gives: a walk: the addresses of its frames, innermost first, and why it ends where it does.
 * Used by: every higher room but waits/; tool/, fiberctl/ and fibertrace/.
 *
 * A walk starts at the registers and stack bytes that a source copied. A whole walk ends in the
 * routine that every fiber starts in (layout.entry_low). libunwind walks first; if it does not
 * arrive there, libdw walks. If libdw does not arrive either, the longer walk is kept and marked
 * truncated, with the reason. A truncated walk is never presented as whole.
 */
#ifndef INS_UNWIND_H
#define INS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/text/error.h"
#include "inspect/model/source.h"

#define INS_WALK_MAX 256

/*
 * Bit n is for frame n (library_frames.h). A frame is internal if it is of the library and the
 * program did not call it. If the program called it, functions inlined into it are internal. The
 * entry is not marked: it is internal, but functions inlined into it may be the program's.
 */
struct ins_walk_code {
	bool known; /* the registry says where the library's code is; else no bit is set */
	uint64_t internal[INS_WALK_MAX / 64];
	uint64_t called[INS_WALK_MAX / 64];
	unsigned entry; /* number of the frame in which the walk ends, + 1; 0: none */
};

struct ins_walk {
	unsigned count;
	bool truncated;
	unsigned limit;		   /* frames to show, with inlined ones; 0: all */
	unsigned left, left_least; /* frames beyond the limit; in a group the most and the fewest */
	bool hide;		   /* internal frames are not shown */
	char reason[160];	   /* why truncated, or why there is no stack to walk; else "" */
	uint64_t interrupted[INS_WALK_MAX / 64]; /* bit n: a signal interrupted frame n at its pc */
	struct ins_walk_code code;		 /* which frames are of the library */
	uint64_t pc[INS_WALK_MAX];		 /* innermost first */
};

/* Whether the frame's pc is a return address, so that the byte before it is in the call. */
static inline bool ins_walk_returned(const struct ins_walk *walk, unsigned frame)
{
	return frame > 0 && !(walk->interrupted[frame / 64] >> frame % 64 & 1);
}

static inline bool ins_walk_internal(const struct ins_walk *walk, unsigned frame)
{
	return walk->code.internal[frame / 64] >> frame % 64 & 1;
}

static inline bool ins_walk_called(const struct ins_walk *walk, unsigned frame)
{
	return walk->code.called[frame / 64] >> frame % 64 & 1;
}

static inline bool ins_walk_is_entry(const struct ins_walk *walk, unsigned frame)
{
	return walk->code.entry == frame + 1;
}

/* Whether no function at the frame's address is shown. */
static inline bool ins_walk_hidden(const struct ins_walk *walk, unsigned frame)
{
	return walk->hide && ins_walk_internal(walk, frame);
}

struct ins_unwinder;

/* For fibers of one source, which is borrowed. Use in one thread. -ENOMEM, -ENOTSUP. */
int ins_unwinder_new(struct ins_source *source, struct ins_unwinder **ret);
void ins_unwinder_free(struct ins_unwinder *unwinder);

/* Set hide of every later walk. It is false at first. */
void ins_unwinder_hide(struct ins_unwinder *unwinder, bool hide);

/* From here on walk every fiber with the unwinders, for a check of the cache. */
void ins_unwinder_drop_cache(struct ins_unwinder *unwinder);

/*
 * Walk a fiber that was read with stacks. A running or dead fiber has no frames and a reason, and
 * is not truncated. The reason of a truncated walk is added to the source's problems.
 */
void ins_unwind(struct ins_unwinder *unwinder, const struct ins_fiber *fiber, struct ins_walk *ret);

/*
 * Walk a plain thread (INS_FIBER_THREAD). The walk is whole if it ends in a frame that the unwind
 * information marks as outermost. Otherwise like ins_unwind().
 */
void ins_unwind_thread(struct ins_unwinder *unwinder, const struct ins_fiber *thread,
		       struct ins_walk *ret);

/*
 * Walk a fiber or a thread that has a stack with libunwind alone. Whether the walk is whole; if
 * not, *ret is meaningless and no problem is added.
 */
bool ins_unwind_whole(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		      struct ins_walk *ret);

/* The start of the function that has pc. False: the unwind information does not say. */
bool ins_unwind_function(struct ins_unwinder *unwinder, uint64_t pc, uint64_t *ret);

/* The source of its fibers. */
struct ins_source *ins_unwind_source(struct ins_unwinder *unwinder);

#endif
