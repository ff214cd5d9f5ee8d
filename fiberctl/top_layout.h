/* SPDX-License-Identifier: MIT */
/*
 * top_layout.h - how many rows of the screen each part of `fiberctl top` gets
 *
 * A part that is left out takes no row; one with a title has one row more than lines.
 */
#ifndef FIBERCTL_TOP_LAYOUT_H
#define FIBERCTL_TOP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "fiberctl/top.h"

struct ctl_top_layout {
	unsigned head[CTL_TOP_HEAD]; /* lines of each of the totals */
	unsigned carriers, groups;   /* lines below their title; 0: no title either */
	bool keys;		     /* a row says what keys do */
	unsigned first, end;	     /* rows of the fibers: that of their title, that behind them */
};

/* For a screen of that many rows; the others are how many lines each would take. */
struct ctl_top_layout ctl_top_layout(unsigned rows, const size_t head[CTL_TOP_HEAD],
				     size_t carriers, size_t groups);

#endif
