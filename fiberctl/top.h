/* SPDX-License-Identifier: MIT */
/*
 * top.h - the parts of `fiberctl top`
 *
 * top_link.c reads fibers from the process, top_carriers.c its carriers; inspect/query/watch.h
 * computes what is shown. top_text.c formats it as text, top_cells.c and top_tables.c as tables,
 * top_json.c as an object. screen.c handles the terminal; top_view.c draws the screen with the room
 * that top_layout.c and fold.c find; top_keys.c handles keys. top_query.c builds a query from
 * words.
 */
#ifndef FIBERCTL_TOP_H
#define FIBERCTL_TOP_H

#include <jansson.h>
#include <stdio.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/stats.h"
#include "tool/sockets.h"
#include "inspect/text/strbuf.h"
#include "inspect/source/snapshot.h"
#include "inspect/query/query.h"
#include "inspect/query/watch.h"

/* Both are of the last look. */
struct ctl_top_carrier {
	const struct fib_wire_runtime *runtime;
	const struct fib_wire_carrier *is;
};

/* Another query over the same looks; both are the caller's. */
struct ctl_top_also {
	struct ins_query *query;
	struct ins_watch *watch;
};

struct ctl_top {
	struct tool_socket socket;     /* for a snapshot only the path is set */
	bool filed;		       /* a snapshot */
	struct ins_snapshot *snapshot; /* NULL: no snapshot, or not open */
	pid_t pid;		       /* of the first answer; 0: none yet */
	char name[64];		       /* of the same process */
	struct ins_source *source;
	struct fib_wire_client client; /* for the carriers; fd -1: not connected */
	struct ins_symbols *symbols;
	struct ins_unwinder *unwinder;
	int64_t used;		  /* our clock at the last request: idle connections are dropped */
	struct ins_request extra; /* requested in addition to the query's needs */
	struct ins_query query;	  /* what is shown: fibers, their order, groups; owned */
	/* The query as words: */
	char where[256];		  /* "": all fibers */
	char sort[FIB_LAYOUT_LABELS + 8]; /* "-cpu" */
	const char *group_by;		  /* NULL: no groups */
	struct ins_watch *watch;
	const struct ctl_top_also *also; /* served by each look too; NULL: none */
	unsigned alsos;
	struct ins_summary summary;   /* of the last look */
	struct ctl_stats before, now; /* carriers of the last two looks; owned */
	char verdict[64];	      /* of a recent look; "": a snapshot, or not known yet */
	int64_t verdict_expires;      /* our clock; no new verdict before */
	int64_t verdict_cpu;	      /* ns of CPU time for all verdicts */
};

/* -- top_link.c -- */

/*
 * Look at all fibers and carriers; of a snapshot always the same. Connects, and reconnects after
 * the connection was idle too long. 0, or a negative errno with error set.
 */
int ctl_top_look(struct ctl_top *top, struct ins_error *error);

/* Bring top->verdict up to date, without a look. Results as for ctl_top_look(). */
int ctl_top_judge(struct ctl_top *top, struct ins_error *error);

/*
 * Write the header line and the backtrace of a fiber to out. Results as for ctl_top_look(); -ESRCH:
 * no such fiber.
 */
int ctl_top_backtrace(struct ctl_top *top, uint64_t id, FILE *out, struct ins_error *error);

/* Disconnect and free everything in top. */
void ctl_top_close(struct ctl_top *top);

/* -- top_carriers.c -- */

/*
 * Read the carriers over top->client, which is connected. 0, or a negative errno with error set.
 * Free ret in both cases.
 */
int ctl_top_carriers_read(struct ctl_top *top, struct ctl_stats *ret, struct ins_error *error);

/*
 * Make them the carriers of the last look; the old ones become the previous look's. top frees them.
 */
void ctl_top_carriers_keep(struct ctl_top *top, const struct ctl_stats *read);

/* The number of carriers in the last look, and carrier i. */
size_t ctl_top_carriers(const struct ctl_top *top);
struct ctl_top_carrier ctl_top_carrier(const struct ctl_top *top, size_t i);

/* -- top_text.c -- */

#define CTL_TOP_HEAD 3 /* totals: in all, by state, by wait */
void ctl_top_head(const struct ctl_top *top, unsigned i, struct ins_strbuf *line);

/* "12.3"; "-" if not known. */
void ctl_top_percent(struct ins_strbuf *line, bool known, uint64_t permille);

/*
 * "by cpu, largest first"; "12 of 100 match state=running", or nothing without a condition. Safe
 * for a terminal.
 */
void ctl_top_order(const struct ctl_top *top, struct ins_strbuf *line);
void ctl_top_match(const struct ctl_top *top, struct ins_strbuf *line);

/* A field as typed, also label.KEY; valid until the next call. Not escaped. */
const char *ctl_top_field(const struct ins_field *field);

/* -- top_json.c -- */

/* The fibers in each state, and those that wait for each kind. NULL: no memory. */
json_t *ctl_top_states(const struct ctl_top *top);
json_t *ctl_top_waits(const struct ctl_top *top);

/* Print the last look as one object with up to `limit` groups. Returns the exit code. */
int ctl_top_json(const struct ctl_top *top, size_t limit);

/* -- top_query.c -- */

/*
 * Show this from the next look on. sort is required, a blank `where` selects all fibers, group_by
 * must stay valid. 0, or a negative errno with error set: the old query stays.
 */
int ctl_top_query(struct ctl_top *top, const struct ins_query_words *words,
		  struct ins_error *error);

/* The words of the current query. */
struct ins_query_words ctl_top_words(const struct ctl_top *top);

/* -- top_keys.c -- */

/*
 * Run the live screen with a look each `interval` ns until the user or a signal ends it. Returns
 * the exit code.
 */
int ctl_top_live(struct ctl_top *top, int64_t interval);

#endif
