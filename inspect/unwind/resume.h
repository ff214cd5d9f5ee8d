/* SPDX-License-Identifier: MIT */
/* resume.h - find where a fiber resumes if another library than libfiber saved its registers */
#ifndef INS_RESUME_H
#define INS_RESUME_H

#include "inspect/model/source.h"

/*
 * With FIB_RECIPE_SAVED, set row.sp, row.fp, row.pc, stack and registers of a copied fiber to where
 * it resumes; a walk starts there. bytes: the copy of its record. The pc is within the call that
 * switched out, not behind it. If something cannot be found out, the fiber becomes INS_FIBER_GONE.
 *
 * Does nothing with any other recipe, or if a thread runs the fiber and gives its registers. Memory
 * is read for FIB_BASE_CONTEXT only: for a live program, check the record again afterwards.
 */
void ins_resume(struct ins_source *source, const void *bytes, struct ins_fiber *fiber);

/* Write bytes at an address of a copy of the program. 0 or a negative errno. */
typedef int ins_resume_put_fn(void *context, uint64_t address, const void *buf, size_t size);

/*
 * The inverse, for writing a copy of the program. bytes, the copy of the record, and the bytes
 * passed to put() then hold the registers that were seen, even if the program's have changed since;
 * row.sp and stack are those of the record again. Returns 0, or put()'s result.
 */
int ins_resume_undo(const struct fib_layout *layout, struct ins_fiber *fiber, void *bytes,
		    ins_resume_put_fn *put, void *context);

#endif
