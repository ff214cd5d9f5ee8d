/* SPDX-License-Identifier: MIT */
/* render_rows_json.c - the rows of a query as one JSON object */
#include "inspect/render/render_rows.h"

static void begin(void *context, const struct ins_query_rows *rows)
{
	struct ins_rows *r = context;
	const struct ins_source *s = rows->source;

	r->rows = *rows;
	ins_json_begin(&r->json, r->out, s->pid, s->name, s->kind,
		       rows->group_by ? "groups" : "fibers");
}

static void put_fiber(void *context, struct ins_sight *sight)
{
	struct ins_rows *r = context;

	ins_json_row(&r->json, ins_json_fiber(sight->layout, sight->fiber, sight->symbols, NULL));
}

static void put_group(void *context, const struct ins_count *group)
{
	struct ins_rows *r = context;

	ins_json_row(&r->json, ins_json_count(r->rows.group_by, group));
}

static void end(void *context, const struct ins_query_result *result)
{
	struct ins_rows *r = context;
	const uint64_t fibers = result->matched - result->summary.shown;

	if (r->rows.group_by)
		ins_json_key(&r->json, "leftOut",
			     json_pack("{s:I, s:I}", "groups",
				       (json_int_t)(result->groups - result->groups_shown),
				       "fibers", (json_int_t)fibers));
	if (r->rows.narrowed)
		ins_json_key(&r->json, "matched", json_integer((json_int_t)result->matched));
	r->failed = ins_json_end(&r->json, &result->summary, &r->rows.source->problems) < 0;
}

const struct ins_query_sink ins_rows_json = {
	.begin = begin,
	.fiber = put_fiber,
	.group = put_group,
	.end = end,
};
