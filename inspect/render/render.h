/* SPDX-License-Identifier: MIT */
/*
 * render.h - the room render/: fibers and groups as text for people or JSON for scripts
 *
 * Takes: rows, walks, verdicts, recordings.
 * Gives: text, JSON, pictures and profiles on a stream.
 * Used by: tool/, fiberctl/, fibertrace/.
 *
 * Names come from a program that may be hostile or broken. The text renderer never lets a control
 * character reach the terminal; the JSON renderer never writes invalid UTF-8.
 *
 * The header line of a backtrace is stable enough for grep. The JSON keys are a stable interface.
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

/* Print: fiber 7741 "req-7741" [suspended: mutex "cfg" held by 88, 2m14s] and a newline. */
void ins_text_header(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber);

/* Print a line per frame, then a line if the walk is truncated or empty. */
void ins_text_frames(FILE *out, struct ins_symbols *symbols, const struct ins_walk *walk);

/* " 41, 42, 43", and ", ..." if more is true. */
void ins_text_sample(FILE *out, const struct ins_sample *ids, bool more);

/* A group's header line and its sample ids, without frames (ins_text_frames()). */
void ins_text_group(FILE *out, const struct fib_layout *layout, const struct ins_group *group);

/* Each problem in a line, then "N of M fibers, sampled over T"; for a snapshot also which one. */
void ins_text_end(FILE *out, const struct ins_summary *summary,
		  const struct ins_problems *problems);

/* Like ins_text_end(), for fibers that match a condition. */
void ins_text_list_end(FILE *out, const struct ins_summary *summary, uint64_t matched,
		       const struct ins_problems *problems);

/* -- JSON: render_json.c -- */

/*
 * The answer is written in pieces. ins_json_begin() writes schemaVersion, pid, name, source. Each
 * ins_json_row() writes one element of the array `rows`. ins_json_end() writes takenNs, host,
 * sampledNs, total, shown, complete, problems. takenNs and host are those of the summary; without
 * them now and this host for a process, else null.
 */
struct ins_json {
	FILE *out;
	int64_t taken; /* time of ins_json_begin() if this process answers; 0: another one */
	bool rows;     /* an array is open; JSON Lines: the head is closed */
	bool first;
	bool failed; /* out of memory; ins_json_end() returns the error */
};

/*
 * From now on write JSON Lines: a head ({"schemaVersion":1, ... "rows":"fibers"}), an object per
 * row and an end ({"end":true, ... "total":..}), one line each. An answer without rows is one line.
 */
void ins_json_lines(void);

/* rows: "fibers", "groups", or NULL: no array. name may be "". */
void ins_json_begin(struct ins_json *json, FILE *out, pid_t pid, const char *name,
		    const char *source, const char *rows);
/* Takes over row. NULL counts as out of memory. */
void ins_json_row(struct ins_json *json, json_t *row);
/* Write a key next to the rows, such as "policy"; takes over value. Call it after the last row. */
void ins_json_key(struct ins_json *json, const char *key, json_t *value);
/* Returns 0, or -ENOMEM or -EIO if the output is incomplete. */
int ins_json_end(struct ins_json *json, const struct ins_summary *summary,
		 const struct ins_problems *problems);

/*
 * Add the numbers of a distribution to an object, which is taken over. ids as an array. NULL: no
 * memory.
 */
json_t *ins_json_distribution(json_t *to, const struct ins_distribution *distribution);
json_t *ins_json_sample(const struct ins_sample *ids);

/*
 * The fiber object. symbols: for the spawn function and the frames, may be NULL. walk: the frames;
 * NULL: not requested. Returns NULL without memory.
 */
json_t *ins_json_fiber(const struct fib_layout *layout, const struct ins_fiber *fiber,
		       struct ins_symbols *symbols, const struct ins_walk *walk);

/* The fiber's own name: "" if it is shown by its function. */
json_t *ins_json_name(const struct ins_fiber *fiber);

/* The frames of a walk that it shows. NULL: no memory. */
json_t *ins_json_frames(struct ins_symbols *symbols, const struct ins_walk *walk);

/* The group object. */
json_t *ins_json_group(const struct fib_layout *layout, const struct ins_group *group,
		       struct ins_symbols *symbols);

/*
 * The object of fibers that share a value of a field: a text unchanged, a number in the form for
 * people, or null.
 */
json_t *ins_json_count(const char *field, const struct ins_count *count);

/* A valid JSON string for any bytes in text; null for NULL. An address is "0x...". */
json_t *ins_json_text(const char *text);
json_t *ins_json_address(uint64_t address);

#endif
