/* SPDX-License-Identifier: MIT */
/* top_view.h - what stands on the screen of `fiberctl top`. */
#ifndef FIBERCTL_TOP_VIEW_H
#define FIBERCTL_TOP_VIEW_H

#include "fiberctl/top.h"

enum ctl_top_mode { CTL_TOP_LIST, CTL_TOP_TYPING, CTL_TOP_READING };

struct ctl_top_view {
	struct ctl_top *top;
	int64_t interval; /* ns */
	bool frozen;
	enum ctl_top_mode mode;
	char typed[256]; /* typing: a condition */
	char message
		[1024]; /* in place of the last line until the next key; "": none. Harmless for a terminal */
	char *text;	      /* reading: lines of it, owned */
	size_t text_first;    /* the line at the top */
	size_t cursor, first; /* the marked fiber and the one at the top, as leaders */
	uint64_t followed;    /* the mark stays with this fiber; 0: with its line */
	size_t page;	      /* fibers, or lines, that were shown last */
};

/* Show it. Moves the mark and what is at the top to where they can be. */
void ctl_top_view_show(struct ctl_top_view *view);

#endif
