/* SPDX-License-Identifier: MIT */
/*
 * render.h - fibers, groups and what is around them, as text for people or JSON for scripts
 *
 * Names come from a program that may be hostile or broken: the text renderer never lets a control
 * character reach the terminal, the JSON renderer never writes invalid UTF-8.
 *
 * The text of a backtrace's header line is stable enough to grep; the JSON keys are a promise.
 */
#ifndef INS_RENDER_H
#define INS_RENDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "inspect/text/error.h"
#include "inspect/query/group.h"
#include "inspect/text/strbuf.h"
#include "inspect/text/sample.h"
#include "inspect/model/source.h"
#include "inspect/text/distribution.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/query/tally.h"
#include "inspect/unwind/unwind.h"
#include "inspect/model/words.h"

/* -- text: render_text.c -- */

/* fiber 7741 "req-7741" [suspended: mutex "cfg" held by 88, 2m14s] and a newline. */
void ins_text_header(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber);

/* One line a frame, then a line that says so when the walk is truncated or there is none. */
void ins_text_frames(FILE *out, struct ins_symbols *symbols, const struct ins_walk *walk);

/* " 41, 42, 43", and ", ..." where there are more. */
void ins_text_sample(FILE *out, const struct ins_sample *ids, bool more);

/* A group's header line and its sample ids; the frames are ins_text_frames()'s. */
void ins_text_group(FILE *out, const struct fib_layout *layout, const struct ins_group *group);

/* Every problem, a line each, then "N of M fibers, sampled over T"; of a snapshot it goes on with which one. */
void ins_text_end(FILE *out, const struct ins_summary *summary,
		  const struct ins_problems *problems);

/* The same for a list of those that matched a condition. */
void ins_text_list_end(FILE *out, const struct ins_summary *summary, uint64_t matched,
		       const struct ins_problems *problems);

/* -- JSON: render_json.c -- */

/*
 * The answer is written as it comes: ins_json_begin() writes schemaVersion, pid, name, source;
 * each ins_json_row() one element of the array `rows`; ins_json_end() the rest: takenNs and host (of a summary that has
 * them, else now and here where the source is a process, else null), sampledNs, total, shown, complete, problems.
 */
struct ins_json {
	FILE *out;
	int64_t taken; /* when it was begun, of who answers now; 0: of another one */
	bool rows;     /* an array is open; of lines: the head is closed */
	bool first;
	bool failed; /* memory ran out; ins_json_end() says so by its result */
};

/*
 * From now on write JSON Lines: a head ({"schemaVersion":1, ... "rows":"fibers"}), an object for each row, and an end
 * ({"end":true, ... "total":..}), each in a line. An answer without rows is one line.
 */
void ins_json_lines(void);

/* rows: "fibers", "groups", or NULL for an answer without an array. name may be "". */
void ins_json_begin(struct ins_json *json, FILE *out, pid_t pid, const char *name,
		    const char *source, const char *rows);
/* Takes row over, also when NULL (which counts as out of memory). */
void ins_json_row(struct ins_json *json, json_t *row);
/* A key beside the rows, e.g. "policy"; takes value over. After the last row. */
void ins_json_key(struct ins_json *json, const char *key, json_t *value);
/* 0; -ENOMEM or -EIO when what was written is not whole. */
int ins_json_end(struct ins_json *json, const struct ins_summary *summary,
		 const struct ins_problems *problems);

/* The numbers of a spread, put into an object, which is taken over; an array of ids. NULL without memory. */
json_t *ins_json_distribution(json_t *to, const struct ins_distribution *distribution);
json_t *ins_json_sample(const struct ins_sample *ids);

/* The fiber object. symbols: for spawn's function and the frames, may be NULL; walk: the frames,
 * NULL when they were not asked for. NULL without memory. */
json_t *ins_json_fiber(const struct fib_layout *layout, const struct ins_fiber *fiber,
		       struct ins_symbols *symbols, const struct ins_walk *walk);

/* The frames of a walk, as many as it shows. NULL without memory. */
json_t *ins_json_frames(struct ins_symbols *symbols, const struct ins_walk *walk);

/* The group object. */
json_t *ins_json_group(const struct fib_layout *layout, const struct ins_group *group,
		       struct ins_symbols *symbols);

/* The object of fibers that share a value of a field: a text as the program has it, a number as a person reads it, null. */
json_t *ins_json_count(const char *field, const struct ins_count *count);

/* A string that is valid JSON whatever bytes text has; NULL text: null. An address: "0x...". */
json_t *ins_json_text(const char *text);
json_t *ins_json_address(uint64_t address);

#endif
