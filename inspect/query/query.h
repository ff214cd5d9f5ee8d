/* SPDX-License-Identifier: MIT */
/*
 * query.h - the room query/: select, sort, group and count fibers
 *
 * Takes: fibers, one by one, and the words of a command line.
 * Gives: rows that are filtered, sorted, grouped or counted.
 * Used by: waits/, render/, tool/, fiberctl/, fibertrace/.
 *
 * A query is built once from the words of a command line; all mistakes in them are reported then.
 * It says what to request from a source, and passes rows in order to a sink: fibers that match, or
 * groups of fibers that share a value. The sink formats the rows (inspect/render/render_rows.h).
 *
 * Commands that do not print rows of fibers use only the condition, ins_query_match(): `stacks`,
 * `waits`, `tree`, `bt`, `top` and the stacks of fibertrace.
 */
#ifndef INS_QUERY_H
#define INS_QUERY_H

#include "inspect/query/columns.h"
#include "inspect/query/select.h"
#include "inspect/query/tally.h"

#define INS_QUERY_ALL UINT64_MAX

/* The order of ids keeps all rows in memory, about 1 KiB each, so it has a limit. */
#define INS_QUERY_SORTED 65536

/* The words of the command line. Each may be NULL. */
struct ins_query_words {
	const char *where;   /* an expression (select.h); NULL: all fibers */
	const char *sort;    /* a field; with '-' before it, the largest first; NULL: input order */
	const char *columns; /* fields separated by commas, or "all"; NULL: the default columns */
	const char *group_by; /* a field; NULL: each fiber is a row */
	uint64_t limit;	      /* rows at most; INS_QUERY_ALL; 0: only the totals */
};

/* The parsed words. Read-only for callers. */
struct ins_query {
	struct ins_select *select; /* NULL: all fibers */
	struct ins_field sort;	   /* without an info: input order */
	bool backwards;		   /* the largest first */
	struct ins_field group;	   /* without an info: each fiber is a row */
	const char *group_by;	   /* the word as typed; borrowed */
	struct ins_columns columns;
	uint64_t limit;
	bool by_id; /* without another order: the order of ids, up to INS_QUERY_SORTED records */
	uint64_t matched, others; /* fibers tested so far: matched or not */
	bool checked; /* the condition was checked against the states and waits of the program */
};

/*
 * Build a query. Returns 0, -EINVAL with error set, or -ENOMEM. After an error there is nothing to
 * drop.
 */
int ins_query_parse(const struct ins_query_words *words, struct ins_query *ret,
		    struct ins_error *error);
void ins_query_drop(struct ins_query *query); /* a zeroed query: no effect */

/* Add what the query needs to the request. */
void ins_query_wants(const struct ins_query *query, struct ins_request *request);

/*
 * Test the condition, and count. Missing data of a fiber that does not match is not reported.
 * symbols may be NULL if the query does not need modules.
 */
bool ins_query_match(struct ins_query *query, struct ins_source *source,
		     struct ins_symbols *symbols, const struct ins_fiber *fiber);

/* -- rows -- */

/* Describes the rows before the first one. */
struct ins_query_rows {
	struct ins_source *source;
	const struct ins_columns *columns;
	const char *group_by; /* NULL: a row is a fiber, else a group */
	bool narrowed; /* there is a condition or a limit, so rows may not include all fibers */
};

/* Totals after the last row. */
struct ins_query_result {
	struct ins_summary summary; /* of the read; shown: fibers in the rows */
	uint64_t matched;	    /* fibers */
	size_t groups, groups_shown;
};

/* Receives the rows: begin, then only fibers or only groups, then end. */
struct ins_query_sink {
	bool lines; /* it prints whole lines; progress may be shown between them */
	/* Called when there is a first row or the read has succeeded. */
	void (*begin)(void *context, const struct ins_query_rows *rows);
	void (*fiber)(void *context, struct ins_sight *sight);
	void (*group)(void *context, const struct ins_count *group);
	void (*end)(void *context, const struct ins_query_result *result);
};

/*
 * Read the fibers of source and pass the rows to the sink. more: what else to request for them.
 * Without an order and groups each fiber is passed on as it is read, and nothing is kept, unless by_id is set. Returns
 * 0, or a negative errno, perhaps with error set; end was not called then.
 */
int ins_query_run(struct ins_query *query, struct ins_source *source,
		  const struct ins_request *more, const struct ins_query_sink *sink, void *context,
		  struct ins_error *error);

#endif
