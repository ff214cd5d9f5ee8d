/* SPDX-License-Identifier: MIT */
/* limit.h - keep the innermost frames of a walk and count the others */
#ifndef INS_LIMIT_H
#define INS_LIMIT_H

#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

/*
 * Keep at most `most` frames that are shown, counting inlined ones; 0: all. walk->hide is set before. Sets limit and left
 * of the walk. Walks that differ only in the removed frames are equal afterwards. truncated does
 * not change.
 */
void ins_walk_limit(struct ins_walk *walk, struct ins_symbols *symbols, unsigned most);

#endif
