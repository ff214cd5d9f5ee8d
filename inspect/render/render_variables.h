/* SPDX-License-Identifier: MIT */
/* render_variables.h - what is shown under the lines of frames: variables and lines of source. */
#ifndef INS_RENDER_VARIABLES_H
#define INS_RENDER_VARIABLES_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/symbols/source_lines.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/values/variables.h"

/* What is wanted under each frame; all may be NULL. */
struct ins_details {
	const struct ins_variables *variables;
	struct ins_source_lines *lines;
};

/* What is known of frame `number`, a line each, indented. */
void ins_text_details(FILE *out, const struct ins_details *details, unsigned number,
		      const struct ins_frame *frame);

/* ins_text_frames() (render.h) with that under each of them. */
void ins_text_frames_detailed(FILE *out, struct ins_symbols *symbols, const struct ins_walk *walk,
			      const struct ins_details *details);

/* Put args and locals, as wanted (INS_VARIABLES_*), into each of the row's frames; of a group also whose they are, in
 * valuesOf. Takes row over and returns it; NULL without memory. variables NULL: row as it is. */
json_t *ins_json_variables(json_t *row, const struct ins_variables *variables, unsigned wanted);

#endif
