/* SPDX-License-Identifier: MIT */
/*
 * unwound.h - the registers in each frame of a walk
 *
 * A walk has only addresses of code. To find a frame's variables, its registers are needed as they
 * will be when the function resumes: the values that its callees saved, and the frame's end (CFA).
 */
#ifndef INS_UNWOUND_H
#define INS_UNWOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/unwind/unwind.h"
#include "inspect/values/scene.h"

/*
 * Find the registers of the walk's frames; ret[0] is the innermost one, and ret has room for
 * walk->count. Returns the number of frames with known registers. It is less than walk->count if a
 * rule is missing or leads elsewhere than the walk.
 */
unsigned ins_unwound_find(struct ins_source *source, const struct ins_fiber *fiber,
			  const struct ins_walk *walk, struct ins_unwound *ret);

#endif
