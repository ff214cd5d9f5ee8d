/* SPDX-License-Identifier: MIT */
/*
 * render_page.h - write a recording as one self-contained HTML page
 *
 * It has a timeline that zooms, tables, and the graph of waits.
 */
#ifndef INS_RENDER_PAGE_H
#define INS_RENDER_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "inspect/recording/account.h"

#define INS_PAGE_SLICES 200000 /* that a page has at most */

/*
 * page has a line "@DATA@", which is replaced by the recording. Its tables have at most `rows`
 * rows. Returns 0, -ENOMEM or -EIO.
 */
int ins_page(FILE *out, const char *page, size_t size, const struct ins_recording *recording,
	     struct ins_replay *replay, const struct ins_account *account, size_t rows);

#endif
