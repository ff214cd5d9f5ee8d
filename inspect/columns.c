/* SPDX-License-Identifier: MIT */
/* columns.c - fibers as a table: numbers to the right of their columns, texts to the left. */
#include "inspect/columns.h"

#include <errno.h>
#include <string.h>

static const char plain[] = "id,state,age,switches,stack,waiting,name";

/* Every field that has a name of its own, the last one last. */
static void take_all(struct ins_columns *ret)
{
	const struct ins_field_info *info;

	for (info = ins_field_infos; info->name; info++)
		if (info->title[0])
			ret->field[ret->count++] = (struct ins_field){.info = info};
}

static int take(const char *name, size_t n, struct ins_columns *ret, struct ins_error *error)
{
	if (ret->count == INS_COLUMNS)
		return ins_error_set(error, -EINVAL, "--columns: no more than %d", INS_COLUMNS);
	if (!ins_field_find(name, n, &ret->field[ret->count]))
		return ins_error_set(error, -EINVAL,
				     "--columns: '%.*s': no such field; there are: %s", (int)n,
				     name, ins_field_names());
	ret->count++;
	return 0;
}

int ins_columns_parse(const char *names, struct ins_columns *ret, struct ins_error *error)
{
	const char *name = names ? names : plain;
	int rc = 0;

	ret->count = 0;
	if (names && strcmp(names, "all") == 0) {
		take_all(ret);
		return 0;
	}
	for (;;) {
		size_t n = strcspn(name, ",");

		rc = take(name, n, ret, error);
		if (rc < 0 || !name[n])
			return rc;
		name += n + 1;
	}
}

void ins_columns_want(const struct ins_columns *columns, struct ins_request *request)
{
	unsigned i;

	for (i = 0; i < columns->count; i++)
		ins_field_wants(&columns->field[i], request);
}

/* What was put since at becomes column i. */
static void align(const struct ins_columns *columns, unsigned i, struct ins_line *line, char *at)
{
	const struct ins_field *f = &columns->field[i];

	if (!ins_field_is_text(f))
		ins_line_right(line, at, f->info->width);
	else if (i + 1 < columns->count)
		ins_line_fill(line, at, f->info->width ? f->info->width : 16);
	if (i + 1 < columns->count)
		/* A text after a number stands off, or they would look like one. */
		ins_line_text(line, f->info->width && ins_field_is_text(&columns->field[i + 1]) &&
						    !ins_field_is_text(f) && i > 0
					    ? "  "
					    : " ");
}

void ins_columns_title(const struct ins_columns *columns, struct ins_line *line)
{
	unsigned i;

	for (i = 0; i < columns->count; i++) {
		char *at = line->at;

		ins_line_quoted(line, ins_field_title(&columns->field[i]));
		align(columns, i, line, at);
	}
}

void ins_columns_row(const struct ins_columns *columns, struct ins_sight *sight,
		     struct ins_line *line)
{
	unsigned i;

	for (i = 0; i < columns->count; i++) {
		char *at = line->at;

		ins_field_say(line, &columns->field[i], ins_field_get(sight, &columns->field[i]));
		align(columns, i, line, at);
	}
}
