/* SPDX-License-Identifier: MIT */
/* resume.h - where a fiber goes on whose registers were saved by another library than libfiber. */
#ifndef INS_RESUME_H
#define INS_RESUME_H

#include "inspect/source.h"

/*
 * With FIB_RECIPE_SAVED, bring a fiber that was copied with its stack to where it goes on: row.sp, row.fp, row.pc, stack and
 * reg are then what a walk begins with. bytes: the copy of its record. The pc lies in the call that left, not behind it. What
 * cannot be found out makes it INS_FIBER_GONE. With any other recipe nothing is done. Memory is read for FIB_BASE_CONTEXT
 * only: where the program lives, look at the record again after this.
 */
void ins_resume(struct ins_source *source, const void *bytes, struct ins_fiber *fiber);

/* A fiber out of a file that was written after that: of the registers it has the row's. */
void ins_resume_kept(const struct fib_layout *layout, struct ins_fiber *fiber);

#endif
