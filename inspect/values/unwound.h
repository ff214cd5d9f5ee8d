/* SPDX-License-Identifier: MIT */
/*
 * unwound.h - what the registers held in each frame of a walk
 *
 * A walk is nothing but addresses of code. Where a variable is in a frame depends on the registers that its function
 * would find when it goes on: those that its callees saved, and the frame's end (CFA).
 */
#ifndef INS_UNWOUND_H
#define INS_UNWOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/unwind/unwind.h"
#include "inspect/values/scene.h"

/*
 * The walk's frames, ret[0] the innermost one; ret has room for walk->count. Returns of how many the registers are
 * known: fewer than walk->count where a rule is missing or leads elsewhere than the walk went.
 */
unsigned ins_unwound_find(struct ins_source *source, const struct ins_fiber *fiber,
			  const struct ins_walk *walk, struct ins_unwound *ret);

#endif
