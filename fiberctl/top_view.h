/* SPDX-License-Identifier: MIT */
/* top_view.h - the screen of `fiberctl top` */
#ifndef FIBERCTL_TOP_VIEW_H
#define FIBERCTL_TOP_VIEW_H

#include "fiberctl/top.h"

enum ctl_top_mode { CTL_TOP_LIST, CTL_TOP_TYPING, CTL_TOP_READING };

struct ctl_top_view {
	struct ctl_top *top;
	int64_t interval; /* ns */
	bool frozen;
	enum ctl_top_mode mode;
	char typed[256]; /* typing mode: the condition */
	char message
		[1024]; /* in the last line until the next key; "": none. Is safe for a terminal */
	char *text;	/* reading mode: its lines, owned */
	size_t text_first;    /* the top line */
	size_t cursor, first; /* indices of the marked fiber and of the top one */
	uint64_t followed;    /* the mark follows this fiber; 0: it stays in its line */
	size_t page;	      /* number of fibers or lines last shown */
};

/* Draw the screen; first corrects the mark and the top line. */
void ctl_top_view_show(struct ctl_top_view *view);

#endif
