/* SPDX-License-Identifier: MIT */
/* columns.c - print fibers as a table: numbers right-aligned, texts left-aligned */
#include "inspect/query/columns.h"

#include <errno.h>
#include <string.h>

#include "inspect/text/duration.h"

#define NO_WIDTH 16 /* of a text field without a width that is not the last column */

static const char plain[] = "id,state,age,switches,stack,waiting,name";

/*
 * Add every field that has a fixed name, except the place, which costs a copy of each stack. The
 * field without a width is last.
 */
static void take_all(struct ins_columns *ret)
{
	const struct ins_field_info *info;

	for (info = ins_field_infos; info->name; info++)
		if (info->title[0] && !(info->needs & INS_NEEDS_PLACE))
			ret->column[ret->count++].field = (struct ins_field){.info = info};
}

static int take(const char *name, size_t n, struct ins_columns *ret, struct ins_error *error)
{
	if (ret->count == INS_COLUMNS)
		return ins_error_set(error, -EINVAL, "--columns: no more than %d", INS_COLUMNS);
	if (!ins_field_find(name, n, &ret->column[ret->count].field))
		return ins_error_set(error, -EINVAL,
				     "--columns: '%.*s': no such field; there are: %s", (int)n,
				     name, ins_field_names());
	ret->count++;
	return 0;
}

static int take_each(const char *names, struct ins_columns *ret, struct ins_error *error)
{
	for (;;) {
		size_t n = strcspn(names, ",");
		int rc = take(names, n, ret, error);

		if (rc < 0 || !names[n])
			return rc;
		names += n + 1;
	}
}

/* Compute the layout once, not for each of a million lines. */
static void lay_out(struct ins_columns *columns)
{
	unsigned i;

	for (i = 0; i < columns->count; i++) {
		struct ins_column *c = &columns->column[i];
		const bool last = i + 1 == columns->count;

		c->right = !ins_field_is_text(&c->field);
		c->width = c->field.info->width;
		if (!c->right && !c->width)
			c->width = NO_WIDTH;
		if (!c->right && last)
			c->width = 0;
		/*
		 * Two blanks between a number and a text, so that they do not look like one value.
		 */
		if (!last && i > 0 && c->right && ins_field_is_text(&c[1].field))
			c->gap = "  ";
		else
			c->gap = last ? "" : " ";
	}
}

int ins_columns_parse(const char *names, struct ins_columns *ret, struct ins_error *error)
{
	int rc = 0;

	ret->count = 0;
	if (names && strcmp(names, "all") == 0)
		take_all(ret);
	else
		rc = take_each(names ? names : plain, ret, error);
	if (rc == 0)
		lay_out(ret);
	return rc;
}

void ins_columns_want(const struct ins_columns *columns, struct ins_request *request)
{
	unsigned i;

	for (i = 0; i < columns->count; i++)
		ins_field_wants(&columns->column[i].field, request);
}

/* Pad the text from `at` on to the width of column c. */
static void align(const struct ins_column *c, struct ins_strbuf *line, char *at)
{
	const char *gap;

	if (c->right)
		ins_strbuf_right(line, at, c->width);
	else
		ins_strbuf_fill(line, at, c->width);
	for (gap = c->gap; *gap; gap++)
		ins_strbuf_char(line, *gap);
}

void ins_columns_title(const struct ins_columns *columns, struct ins_strbuf *line)
{
	unsigned i;

	for (i = 0; i < columns->count; i++) {
		const struct ins_column *c = &columns->column[i];
		char *at = line->at;

		ins_strbuf_quoted(line, ins_field_title(&c->field));
		align(c, line, at);
	}
}

/* A time is in seconds in every line, so that one can compare the lines. */
static void say(const struct ins_column *c, struct ins_value value, struct ins_strbuf *line)
{
	if (c->field.info->kind == INS_TIME && value.known)
		ins_duration_say_seconds(line, value.number > INT64_MAX ? INT64_MAX
									: (int64_t)value.number);
	else
		ins_field_say(line, &c->field, value);
}

void ins_columns_row(const struct ins_columns *columns, struct ins_sight *sight,
		     struct ins_strbuf *line)
{
	unsigned i;

	for (i = 0; i < columns->count; i++) {
		const struct ins_column *c = &columns->column[i];
		char *at = line->at;

		say(c, ins_field_get(sight, &c->field), line);
		align(c, line, at);
	}
}
