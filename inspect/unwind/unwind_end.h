/* SPDX-License-Identifier: MIT */
/* unwind_end.h - judge the end of a walk: whether it is whole, and if not, why */
#ifndef INS_UNWIND_END_H
#define INS_UNWIND_END_H

#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"
#include "inspect/unwind/unwind_dw.h"

/* Whether the last frame is the routine that every fiber starts in. */
bool ins_walk_arrived(const struct fib_layout *layout, const struct ins_walk *walk);

/*
 * Whether the walk ends where it should: a fiber's at its entry, a thread's at its outermost frame.
 * A fiber without a function is a thread that was made a fiber.
 */
bool ins_walk_ended(struct ins_unwind_dw *dw, const struct ins_fiber *fiber,
		    const struct ins_walk *walk);

/* Write into walk->reason why the walk is truncated. */
void ins_walk_explain(struct ins_modules *modules, struct ins_unwind_dw *dw,
		      const struct ins_fiber *fiber, struct ins_walk *walk);

#endif
