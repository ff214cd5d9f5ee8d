/* SPDX-License-Identifier: MIT */
/*
 * render_rows.h - the rows of a query, as sinks for it (inspect/query/query.h)
 *
 * Their context is a struct ins_rows, with `out` set. Whether all of it could be written shows in ferror(out).
 */
#ifndef INS_RENDER_ROWS_H
#define INS_RENDER_ROWS_H

#include "inspect/query/query.h"
#include "inspect/render/render.h"

struct ins_rows {
	FILE *out;
	bool bold;   /* titles, on a terminal */
	bool failed; /* JSON: what was written is not whole */
	/* of the sinks */
	struct ins_query_rows rows;
	struct ins_json json;
};

/* Fibers as a table of columns, and the totals in the last line. */
extern const struct ins_query_sink ins_rows_columns;

/* Groups as a table: how many fibers, their ages and CPU time, the value they share, the ids of some. */
extern const struct ins_query_sink ins_rows_groups;

/* Either as one JSON object. */
extern const struct ins_query_sink ins_rows_json;

#endif
