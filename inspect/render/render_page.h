/* SPDX-License-Identifier: MIT */
/* render_page.h - a recording as one HTML page that needs nothing else: a timeline to zoom, tables, who waits for whom. */
#ifndef INS_RENDER_PAGE_H
#define INS_RENDER_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "inspect/recording/account.h"

#define INS_PAGE_SLICES 200000 /* that a page has at most */

/* The page's text has a line "@DATA@", where the recording goes; its tables have at most so many rows. 0, -ENOMEM, -EIO. */
int ins_page(FILE *out, const char *page, size_t size, const struct ins_recording *recording,
	     struct ins_replay *replay, const struct ins_account *account, size_t rows);

#endif
