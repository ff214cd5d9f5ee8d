/* SPDX-License-Identifier: MIT */
/* render_rows.c - the rows of a query as a table for people */
#include "inspect/render/render_rows.h"

#include <inttypes.h>
#include <string.h>

#include "inspect/text/duration.h"

static void put_title(const struct ins_rows *r, const char *title)
{
	fprintf(r->out, r->bold ? "\033[1m%s\033[0m\n" : "%s\n", title);
}

static void put_end(const struct ins_rows *r, const struct ins_query_result *result)
{
	ins_text_list_end(r->out, &result->summary, result->matched, &r->rows.source->problems);
}

/* -- fibers -- */

/* The number of bytes of the line that fit. Continuation bytes of UTF-8 take no room. */
static size_t fitting(const struct ins_rows *r, const char *line, size_t size)
{
	size_t i, width = 0;

	if (!r->width)
		return size;
	for (i = 0; i < size; i++)
		if ((line[i] & 0xc0) != 0x80 && width++ == r->width)
			return i;
	return size;
}

static void begin_columns(void *context, const struct ins_query_rows *rows)
{
	struct ins_rows *r = context;
	char buf[1024];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);

	r->rows = *rows;
	ins_columns_title(rows->columns, &line);
	/* Only the last column is cut. In a terminal that has no room for it, lines are wrapped. */
	if (strlen(buf) > r->width)
		r->width = 0;
	put_title(r, buf);
}

static void put_fiber(void *context, struct ins_sight *sight)
{
	struct ins_rows *r = context;
	char buf[4096];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf - 1);
	size_t size;

	ins_columns_row(r->rows.columns, sight, &line);
	size = fitting(r, buf, (size_t)(line.at - buf));
	buf[size++] = '\n'; /* the NUL is not printed */
	fwrite(buf, 1, size, r->out);
}

static void end_columns(void *context, const struct ins_query_result *result)
{
	put_end(context, result);
}

const struct ins_query_sink ins_rows_columns = {
	.lines = true,
	.begin = begin_columns,
	.fiber = put_fiber,
	.end = end_columns,
};

/* -- groups -- */

static void begin_groups(void *context, const struct ins_query_rows *rows)
{
	struct ins_rows *r = context;

	r->rows = *rows;
	put_title(r, "     COUNT      MIN   MEDIAN      MAX       CPU  VALUE");
}

static void put_group(void *context, const struct ins_count *c)
{
	const struct ins_rows *r = context;
	char min[32], median[32], max[32], cpu[32];

	fprintf(r->out, "%10" PRIu64 " %8s %8s %8s %9s  %-24s ids", c->count,
		c->threads ? "-" : ins_duration_seconds(c->ages.min, min, sizeof min),
		c->threads ? "-" : ins_duration_seconds(c->ages.median, median, sizeof median),
		c->threads ? "-" : ins_duration_seconds(c->ages.max, max, sizeof max),
		ins_duration_seconds((int64_t)c->cpu, cpu, sizeof cpu), c->value);
	ins_text_sample(r->out, &c->ids, c->count > c->ids.count);
	fputc('\n', r->out);
}

static void end_groups(void *context, const struct ins_query_result *result)
{
	const struct ins_rows *r = context;

	fprintf(r->out, "shown %zu of %zu value%s of %s\n", result->groups_shown, result->groups,
		result->groups == 1 ? "" : "s", r->rows.group_by);
	put_end(r, result);
}

const struct ins_query_sink ins_rows_groups = {
	.lines = true,
	.begin = begin_groups,
	.group = put_group,
	.end = end_groups,
};
