/* SPDX-License-Identifier: MIT */
/* limit.h - the innermost frames of a walk, and how many there were beyond. */
#ifndef INS_LIMIT_H
#define INS_LIMIT_H

#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

/*
 * Keep no more than `most` frames, inlined ones counted as they are shown, and set limit and left of the walk; 0: all of
 * them. Walks that differ only in what went are equal afterwards. Whether it is truncated stays as it was.
 */
void ins_walk_limit(struct ins_walk *walk, struct ins_symbols *symbols, unsigned most);

#endif
