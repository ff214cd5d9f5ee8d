/* SPDX-License-Identifier: MIT */
/* shown.h - the frames of a walk that are shown to people */
#ifndef INS_SHOWN_H
#define INS_SHOWN_H

#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

/* The frames at one address of a walk. Those from low to high, not included, are not internal. */
struct ins_shown {
	const struct ins_frame *frames; /* innermost first */
	size_t count;			/* >= 1 */
	size_t low, high;
	size_t first, end; /* shown are those from first to end, not included */
};

/* The frames at walk->pc[i]. All of them are shown unless walk->hide is set. */
struct ins_shown ins_shown_at(struct ins_symbols *symbols, const struct ins_walk *walk, unsigned i);

static inline bool ins_shown_internal(const struct ins_shown *at, size_t k)
{
	return k < at->low || k >= at->high;
}

#endif
