/* SPDX-License-Identifier: MIT */
/*
 * limit.c - keep the innermost frames of a walk
 *
 * A walk has addresses, but a limit counts frames. An address stands for several frames if
 * functions were inlined. So the last address that is kept may have frames beyond the limit;
 * walk->limit says where to stop.
 */
#include "inspect/symbols/limit.h"

#include "inspect/symbols/shown.h"

void ins_walk_limit(struct ins_walk *walk, struct ins_symbols *symbols, unsigned most)
{
	unsigned i, kept = walk->count;
	size_t frames = 0;

	walk->limit = walk->left = walk->left_least = 0;
	for (i = 0; most && i < walk->count; i++) {
		const struct ins_shown at = ins_shown_at(symbols, walk, i);
		const size_t count = at.end - at.first;

		if (frames < most && frames + count >= most)
			kept = i + 1;
		frames += count;
	}
	if (frames <= most)
		return;
	walk->count = kept;
	walk->limit = most;
	walk->left = walk->left_least = (unsigned)frames - most;
}
