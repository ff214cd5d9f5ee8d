/* SPDX-License-Identifier: MIT */
/* resume.h - where a fiber goes on whose registers were saved by another library than libfiber. */
#ifndef INS_RESUME_H
#define INS_RESUME_H

#include "inspect/model/source.h"

/*
 * With FIB_RECIPE_SAVED, bring a fiber that was copied with its stack to where it goes on: row.sp, row.fp, row.pc, stack and
 * registers are then what a walk begins with. bytes: the copy of its record. The pc lies in the call that left, not behind it. What
 * cannot be found out makes it INS_FIBER_GONE. With any other recipe, or where a thread runs it and says where it is, nothing is done. Memory is read for FIB_BASE_CONTEXT
 * only: where the program lives, look at the record again after this.
 */
void ins_resume(struct ins_source *source, const void *bytes, struct ins_fiber *fiber);

/* Write bytes at an address of a copy of the program. 0 or a negative errno. */
typedef int ins_resume_put_fn(void *context, uint64_t address, const void *buf, size_t size);

/*
 * The other way, for whoever writes a copy of the program: bytes, the record there, and what put() is called for then say of
 * the fiber's registers what was seen, whatever they hold by now; row.sp and stack are those of the record again. 0, or
 * what put() returned.
 */
int ins_resume_undo(const struct fib_layout *layout, struct ins_fiber *fiber, void *bytes,
		    ins_resume_put_fn *put, void *context);

#endif
