/* SPDX-License-Identifier: MIT */
/*
 * shown.c - the frames of a walk that are shown to people
 *
 * A walk has marks per address (library_frames.h). An address stands for several frames if
 * functions were inlined. Where the program called the library, the last frame at the address is
 * the function that was called, and the frames inlined into it are internal. At the entry the last
 * frame is internal, and the frames inlined into it are functions that it calls: the program's.
 */
#include "inspect/symbols/shown.h"

struct ins_shown ins_shown_at(struct ins_symbols *symbols, const struct ins_walk *walk, unsigned i)
{
	struct ins_shown ret = {0};

	ret.frames = ins_symbols_at(symbols, walk->pc[i], ins_walk_returned(walk, i), &ret.count);
	ret.high = ret.count;
	if (ins_walk_internal(walk, i))
		ret.high = 0;
	else if (ins_walk_called(walk, i))
		ret.low = ret.count - 1;
	else if (ins_walk_is_entry(walk, i))
		ret.high = ret.count - 1;
	ret.first = walk->hide ? ret.low : 0;
	ret.end = walk->hide ? ret.high : ret.count;
	return ret;
}
