/* SPDX-License-Identifier: MIT */
/*
 * query.h - which fibers are wanted, in which order, and what of each
 *
 * A query is built once from the words of a command line, and every mistake in them is found there. It says what a source must
 * be asked for, takes fibers one by one, and gives rows in order to a sink: the fibers that match, or the groups of them that
 * share a value. What a row looks like is the sink's choice (inspect/render/render_rows.h).
 *
 * A command that does more with fibers than print them in rows uses the condition alone: ins_query_match(). So do `stacks`,
 * `waits`, `tree`, `bt`, `top` and the stacks of fibertrace.
 */
#ifndef INS_QUERY_H
#define INS_QUERY_H

#include "inspect/query/columns.h"
#include "inspect/query/select.h"
#include "inspect/query/tally.h"

#define INS_QUERY_ALL UINT64_MAX

/* The words. Each may be NULL. */
struct ins_query_words {
	const char *where;   /* an expression (select.h); NULL: all fibers */
	const char *sort;    /* a field, '-' before it: the largest first; NULL: as they come */
	const char *columns; /* fields with commas between, or "all"; NULL: those of a plain list */
	const char *group_by; /* a field; NULL: each fiber is a row */
	uint64_t limit;	      /* rows at most; INS_QUERY_ALL; 0: nothing but the totals */
};

/* What the words mean. For others to read. */
struct ins_query {
	struct ins_select *select; /* NULL: all fibers */
	struct ins_field sort;	   /* without an info: as they come */
	bool backwards;		   /* the largest first */
	struct ins_field group;	   /* without an info: each fiber is a row */
	const char *group_by;	   /* the same as it was typed; borrowed */
	struct ins_columns columns;
	uint64_t limit;
	uint64_t matched, others; /* fibers that were tested so far: matched or not */
	bool checked;		  /* the condition, against the words of the program */
};

/* Build it. 0; -EINVAL with error set; -ENOMEM. There is nothing to drop then. */
int ins_query_parse(const struct ins_query_words *words, struct ins_query *ret,
		    struct ins_error *error);
void ins_query_drop(struct ins_query *query); /* a zeroed one: nothing */

/* Add to the request what the query needs. */
void ins_query_wants(const struct ins_query *query, struct ins_request *request);

/* Test the condition, and count. What is missing of a fiber that does not match is not missed. symbols may be NULL where the
 * query does not want modules. */
bool ins_query_match(struct ins_query *query, struct ins_source *source,
		     struct ins_symbols *symbols, const struct ins_fiber *fiber);

/* -- rows -- */

/* What the rows will be. */
struct ins_query_rows {
	struct ins_source *source;
	const struct ins_columns *columns;
	const char *group_by; /* NULL: a row is a fiber, else a group */
	bool narrowed;	      /* by a condition or a limit: not all fibers need be there */
};

/* What they were. */
struct ins_query_result {
	struct ins_summary summary; /* of the read; shown: the fibers of the rows */
	uint64_t matched;	    /* fibers */
	size_t groups, groups_shown;
};

/* Who takes the rows. Between begin and end come fibers or groups, never both. */
struct ins_query_sink {
	bool lines; /* it prints whole lines, between which a terminal may show how far the read is */
	/* Before the first row, and not before there is one or the read has succeeded. */
	void (*begin)(void *context, const struct ins_query_rows *rows);
	void (*fiber)(void *context, struct ins_sight *sight);
	void (*group)(void *context, const struct ins_count *group);
	void (*end)(void *context, const struct ins_query_result *result);
};

/*
 * Read the fibers of source and give the rows to the sink. more: what else is wanted of the source for them. Without an order
 * and groups each fiber is a row as it comes, and nothing is kept. 0; a negative errno, perhaps with error set: then there was no
 * end.
 */
int ins_query_run(struct ins_query *query, struct ins_source *source,
		  const struct ins_request *more, const struct ins_query_sink *sink, void *context,
		  struct ins_error *error);

#endif
