/* SPDX-License-Identifier: MIT */
/*
 * top.h - the parts of `fiberctl top`
 *
 * top_link.c asks the process, top_carriers.c for its carriers; inspect/query/watch.h makes of it what is shown; top_text.c makes text of
 * that, top_cells.c and top_tables.c tables, top_json.c an object. screen.c has the terminal, top_view.c what stands on it where
 * top_layout.c and fold.c find room, and top_keys.c what a person does there. top_query.c makes a query of the
 * words that say what is shown.
 */
#ifndef FIBERCTL_TOP_H
#define FIBERCTL_TOP_H

#include <stdio.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/stats.h"
#include "tool/sockets.h"
#include "inspect/text/strbuf.h"
#include "inspect/source/snapshot.h"
#include "inspect/query/query.h"
#include "inspect/query/watch.h"

/* Both are those of the last look. */
struct ctl_top_carrier {
	const struct fib_wire_runtime *runtime;
	const struct fib_wire_carrier *is;
};

struct ctl_top {
	struct tool_socket socket;     /* of a snapshot, only its path */
	bool filed;		       /* it is a snapshot */
	struct ins_snapshot *snapshot; /* NULL: it is none, or not open */
	pid_t pid;		       /* of whom answered first; 0: nobody has */
	char name[64];		       /* the same one's */
	struct ins_source *source;
	struct fib_wire_client client; /* for the carriers; fd -1: not connected */
	struct ins_symbols *symbols;
	struct ins_unwinder *unwinder;
	int64_t used; /* our clock, when it was last asked: idle connections are dropped */
	struct ins_request extra; /* wanted besides what the query needs */
	struct ins_query query;	  /* what is shown: fibers and their order, groups; owned */
	/* The same as words: */
	char where[256];		  /* "": all fibers */
	char sort[FIB_LAYOUT_LABELS + 8]; /* "-cpu" */
	const char *group_by;		  /* NULL: no groups */
	struct ins_watch *watch;
	struct ins_summary summary;   /* of the last look */
	struct ctl_stats before, now; /* carriers at the last two looks; owned */
};

/* -- top_link.c -- */

/* Look at all fibers and carriers, of a snapshot always the same. 0, or a negative errno with error set. Connects, and again where the connection has been idle
 * for too long. */
int ctl_top_look(struct ctl_top *top, struct ins_error *error);

/* Write the header line and the backtrace of a fiber to out. The same results; -ESRCH: there is no such fiber. */
int ctl_top_backtrace(struct ctl_top *top, uint64_t id, FILE *out, struct ins_error *error);

/* Disconnect and free what is here. */
void ctl_top_close(struct ctl_top *top);

/* -- top_carriers.c -- */

/* Read the carriers over top->client, which is connected. 0, or a negative errno with error set; ret is to be freed then, too. */
int ctl_top_carriers_read(struct ctl_top *top, struct ctl_stats *ret, struct ins_error *error);

/* They are the last look's now, and its are the ones before. They are top's to free. */
void ctl_top_carriers_keep(struct ctl_top *top, const struct ctl_stats *read);

/* How many the last look found; number i of them. */
size_t ctl_top_carriers(const struct ctl_top *top);
struct ctl_top_carrier ctl_top_carrier(const struct ctl_top *top, size_t i);

/* -- top_text.c -- */

#define CTL_TOP_HEAD 3 /* totals: in all, by state, by wait */
void ctl_top_head(const struct ctl_top *top, unsigned i, struct ins_strbuf *line);

/* "12.3"; "-" when it is not known. */
void ctl_top_percent(struct ins_strbuf *line, bool known, uint64_t permille);

/* "by cpu, largest first"; "12 of 100 match state=running", nothing without a condition. Harmless for a terminal. */
void ctl_top_order(const struct ctl_top *top, struct ins_strbuf *line);
void ctl_top_match(const struct ctl_top *top, struct ins_strbuf *line);

/* A field as it is typed, label.KEY too; valid until the next call. Harmless for a terminal it is not. */
const char *ctl_top_field(const struct ins_field *field);

/* -- top_json.c -- */

/* Print the last look as one object with up to `limit` groups. The exit code. */
int ctl_top_json(const struct ctl_top *top, size_t limit);

/* -- top_query.c -- */

/* Show that from the next look on: sort is needed, a blank `where` is all fibers, group_by must stay. 0, or a negative errno with
 * error set: then the query before holds. */
int ctl_top_query(struct ctl_top *top, const struct ins_query_words *words,
		  struct ins_error *error);

/* The words of the query that holds. */
struct ins_query_words ctl_top_words(const struct ctl_top *top);

/* -- top_keys.c -- */

/* The live screen, a look each `interval` ns, until a person or a signal ends it. The exit code. */
int ctl_top_live(struct ctl_top *top, int64_t interval);

#endif
