/* SPDX-License-Identifier: MIT */
/*
 * top_layout.h - divide the rows of the screen between the parts of `fiberctl top`
 *
 * A part that is left out takes no row. A part with a title takes one row more than its lines.
 */
#ifndef FIBERCTL_TOP_LAYOUT_H
#define FIBERCTL_TOP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "fiberctl/top.h"

struct ctl_top_layout {
	unsigned head[CTL_TOP_HEAD]; /* lines of each of the totals */
	unsigned carriers, groups;   /* lines below the title; 0: no title either */
	bool keys;		     /* show the row with the keys */
	unsigned first, end; /* rows of the fibers: the title's row, the row after the last */
};

/*
 * The layout of a screen with that many rows. The other arguments are the lines that each part
 * would take.
 */
struct ctl_top_layout ctl_top_layout(unsigned rows, const size_t head[CTL_TOP_HEAD],
				     size_t carriers, size_t groups);

#endif
