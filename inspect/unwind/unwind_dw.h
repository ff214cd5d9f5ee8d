/* SPDX-License-Identifier: MIT */
/* unwind_dw.h - walk with libdw what libunwind cannot: .debug_frame, no .eh_frame_hdr */
#ifndef INS_UNWIND_DW_H
#define INS_UNWIND_DW_H

#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"

struct ins_unwind_dw {
	struct ins_source *source;
	const struct ins_fiber *fiber; /* of the walk in progress */
	struct ins_walk *walk;
	bool tried;
	bool attached;
	bool foreign; /* the outermost frame of the last walk is of another fiber */
};

/*
 * Walk fiber into *ret, which is overwritten: count and pc only. The caller judges whether the walk
 * is whole. Frames that are not reached by unwind information are left out. Before the first call
 * dw is zeroed except for source; it must not be moved.
 */
void ins_unwind_dw(struct ins_unwind_dw *dw, const struct ins_fiber *fiber, struct ins_walk *ret);

/* Mark the frames of a walk that were not called: signal frames and interrupted frames. */
void ins_unwind_dw_signals(struct ins_unwind_dw *dw, struct ins_walk *walk);

/* Whether the code before pc is where a signal handler returns to. */
bool ins_unwind_dw_of_signal(struct ins_unwind_dw *dw, uint64_t pc);

/* Whether a rule marks the code at pc as outermost, such as the start of a thread. */
bool ins_unwind_dw_outermost(struct ins_unwind_dw *dw, uint64_t pc);

/* Whether a rule gives the caller of the code at pc. Valid after a walk. */
bool ins_unwind_dw_covers(struct ins_unwind_dw *dw, uint64_t pc);

#endif
