/* SPDX-License-Identifier: MIT */
/* render_variables.c - print variables and source lines under the lines of frames */
#include "inspect/render/render_variables.h"

#include <inttypes.h>

#include "inspect/text/escape.h"
#include "inspect/render/render.h"

static void put_variable(FILE *out, const struct ins_variable *v)
{
	char name[256];

	/* Type and value are escaped already. */
	fprintf(out, "       %s %s = %s\n", v->argument ? "arg  " : "local",
		ins_escape(v->name, name, sizeof name), v->value);
}

void ins_text_details(FILE *out, const struct ins_details *details, unsigned number,
		      const struct ins_frame *frame)
{
	const struct ins_variables *v = details->variables;
	size_t i, pass;

	for (pass = 0; v && pass < 2; pass++)
		for (i = 0; i < v->count; i++)
			if (v->at[i].frame == number && v->at[i].argument == (pass == 0))
				put_variable(out, &v->at[i]);
	if (details->lines)
		ins_source_lines_put(details->lines, out, frame);
}

static json_t *variable_object(const struct ins_variable *v)
{
	return json_pack("{s:o, s:o, s:o, s:b}", "name", ins_json_text(v->name), "type",
			 ins_json_text(v->type), "value", ins_json_text(v->value), "available",
			 v->available);
}

static json_t *variables_array(const struct ins_variables *v, size_t frame, bool argument)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; array && i < v->count; i++) {
		if (v->at[i].frame != frame || v->at[i].argument != argument)
			continue;
		if (json_array_append_new(array, variable_object(&v->at[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

json_t *ins_json_variables(json_t *row, const struct ins_variables *variables, unsigned wanted)
{
	json_t *frames = row ? json_object_get(row, "frames") : NULL;
	int rc = 0;
	size_t i;

	if (!frames || !variables)
		return row;
	for (i = 0; i < json_array_size(frames); i++) {
		json_t *frame = json_array_get(frames, i);

		if (wanted & INS_VARIABLES_ARGS)
			rc |= json_object_set_new(frame, "args",
						  variables_array(variables, i, true));
		if (wanted & INS_VARIABLES_LOCALS)
			rc |= json_object_set_new(frame, "locals",
						  variables_array(variables, i, false));
	}
	if (json_object_get(row, "fiberIds"))
		rc |= json_object_set_new(row, "valuesOf",
					  json_integer((json_int_t)variables->fiber));
	if (rc == 0)
		return row;
	json_decref(row);
	return NULL;
}
