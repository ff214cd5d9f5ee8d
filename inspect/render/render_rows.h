/* SPDX-License-Identifier: MIT */
/*
 * render_rows.h - sinks that print the rows of a query (inspect/query/query.h)
 *
 * Their context is a struct ins_rows with `out` set. Check ferror(out) for write errors.
 */
#ifndef INS_RENDER_ROWS_H
#define INS_RENDER_ROWS_H

#include "inspect/query/query.h"
#include "inspect/render/render.h"

struct ins_rows {
	FILE *out;
	bool bold;    /* print titles bold (terminal) */
	size_t width; /* of a line, in characters: the last column is cut; 0: no limit */
	bool failed;  /* JSON: the output is incomplete */
	/* used by the sinks */
	struct ins_query_rows rows;
	struct ins_json json;
};

/* Fibers as a table of columns; the last line has the totals. */
extern const struct ins_query_sink ins_rows_columns;

/* Groups as a table: number of fibers, ages, CPU time, the shared value, ids of some fibers. */
extern const struct ins_query_sink ins_rows_groups;

/* Fibers or groups as one JSON object. */
extern const struct ins_query_sink ins_rows_json;

#endif
