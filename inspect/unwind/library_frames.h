/* SPDX-License-Identifier: MIT */
/* library_frames.h - mark the frames of a walk that are of the fiber library */
#ifndef INS_LIBRARY_FRAMES_H
#define INS_LIBRARY_FRAMES_H

#include "inspect/unwind/unwind.h"
#include "layout/layout.h"

/*
 * Set walk->code. Only addresses decide, so it works for stripped programs. A frame outside of the
 * library's code is never internal. A walk with frames has at least one that is not internal.
 */
void ins_walk_mark(struct ins_walk *walk, const struct fib_layout *layout);

/* Whether the shown frames of two walks (walk->hide) have the same addresses. */
bool ins_walk_equal(const struct ins_walk *a, const struct ins_walk *b);

#endif
