/* SPDX-License-Identifier: MIT */
/* render_variables.h - print variables and source lines under the lines of frames */
#ifndef INS_RENDER_VARIABLES_H
#define INS_RENDER_VARIABLES_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/symbols/source_lines.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/values/variables.h"

/* What to print under each frame; all may be NULL. */
struct ins_details {
	const struct ins_variables *variables;
	struct ins_source_lines *lines;
};

/* Print the details of frame `number`, one line each, indented. */
void ins_text_details(FILE *out, const struct ins_details *details, unsigned number,
		      const struct ins_frame *frame);

/* ins_text_frames() (render.h) with the details under each frame. */
void ins_text_frames_detailed(FILE *out, struct ins_symbols *symbols, const struct ins_walk *walk,
			      const struct ins_details *details);

/*
 * Add args and locals, as wanted (INS_VARIABLES_*), to each of the row's frames; for a group also
 * valuesOf, the fiber whose values they are. Takes over row and returns it; NULL: no memory.
 * variables NULL: row is unchanged.
 */
json_t *ins_json_variables(json_t *row, const struct ins_variables *variables, unsigned wanted);

#endif
