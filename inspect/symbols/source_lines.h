/* SPDX-License-Identifier: MIT */
/* source_lines.h - print the source lines around a place, if the files still exist */
#ifndef INS_SOURCE_LINES_H
#define INS_SOURCE_LINES_H

#include <stdio.h>

#include "inspect/elf/modules.h"
#include "inspect/symbols/symbolize.h"

struct ins_source_lines;

/* around: how many lines to show for each place. modules are borrowed. -ENOMEM. */
int ins_source_lines_new(struct ins_modules *modules, unsigned around,
			 struct ins_source_lines **ret);
void ins_source_lines_free(struct ins_source_lines *lines); /* NULL: no effect */

/*
 * Print the lines around the frame's place, with a mark before its own; each place once. A missing
 * file, or one newer than the program, is reported once. No output for a frame without a place.
 */
void ins_source_lines_put(struct ins_source_lines *lines, FILE *out, const struct ins_frame *frame);

#endif
