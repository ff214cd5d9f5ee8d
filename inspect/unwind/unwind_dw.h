/* SPDX-License-Identifier: MIT */
/* unwind_dw.h - libdw's walk, for what libunwind cannot: .debug_frame, no .eh_frame_hdr. */
#ifndef INS_UNWIND_DW_H
#define INS_UNWIND_DW_H

#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"

struct ins_unwind_dw {
	struct ins_source *source;
	const struct ins_fiber *fiber; /* of the walk that goes on */
	struct ins_walk *walk;
	bool tried;
	bool attached;
	bool foreign; /* of the last walk: its outermost frame is of another fiber */
};

/*
 * Walk fiber into *ret, which is overwritten: count and pc only; whether it arrived is the caller's to
 * judge. Frames that no unwind information leads to are not in it. dw is zeroed but for source
 * before the first call and stays where it is.
 */
void ins_unwind_dw(struct ins_unwind_dw *dw, const struct ins_fiber *fiber, struct ins_walk *ret);

/* Mark the frames of a walk that nobody called: of a signal, and of whom it interrupted. */
void ins_unwind_dw_signals(struct ins_unwind_dw *dw, struct ins_walk *walk);

/* Whether the code before pc is where a signal's handler returns to. */
bool ins_unwind_dw_of_signal(struct ins_unwind_dw *dw, uint64_t pc);

/* Whether a rule says that nobody called the code at pc: it is what a thread begins with. */
bool ins_unwind_dw_outermost(struct ins_unwind_dw *dw, uint64_t pc);

/* Whether a rule says who called the code at pc. After a walk. */
bool ins_unwind_dw_covers(struct ins_unwind_dw *dw, uint64_t pc);

#endif
