/* SPDX-License-Identifier: MIT */
/* source_lines.h - the lines of a program's source around a place, from its files where they are still to be found. */
#ifndef INS_SOURCE_LINES_H
#define INS_SOURCE_LINES_H

#include <stdio.h>

#include "inspect/elf/modules.h"
#include "inspect/symbols/symbolize.h"

struct ins_source_lines;

/* To show so many lines around each place. modules are borrowed. -ENOMEM. */
int ins_source_lines_new(struct ins_modules *modules, unsigned around,
			 struct ins_source_lines **ret);
void ins_source_lines_free(struct ins_source_lines *lines); /* NULL: nothing */

/*
 * Put the lines around the frame's place, a mark before its own; the first time that place comes. Where its file is not there, or
 * is newer than the program, that is said, once for each file. Nothing for a frame without a place.
 */
void ins_source_lines_put(struct ins_source_lines *lines, FILE *out, const struct ins_frame *frame);

#endif
