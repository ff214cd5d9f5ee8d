/* SPDX-License-Identifier: MIT */
/*
 * played.h - the common part of commands on a recording: open it, account for its time, print
 *
 * Output goes to standard output, or with --output to a file that appears whole or not at all.
 */
#ifndef FIBERTRACE_PLAYED_H
#define FIBERTRACE_PLAYED_H

#include <stdio.h>

#include "inspect/recording/account.h"
#include "tool/tool.h"

struct trace_played {
	struct ins_recording *recording;
	struct ins_replay *replay;
	struct ins_account *account; /* NULL: not requested */
};

/*
 * Open the recording at path. TOOL_WELL, or the exit code after a line on stderr. Close ret in both
 * cases.
 */
int trace_played_open(const char *path, bool account, struct trace_played *ret);
void trace_played_close(struct trace_played *played);

/* Prints the output. Returns 0 or a negative errno. */
typedef int trace_played_fn(FILE *out, const struct trace_played *played, size_t rows);

/* Call put() with the output that --output selects. rows: passed to put. Returns the exit code. */
int trace_played_show(const struct trace_played *played, const struct tool_arguments *arguments,
		      trace_played_fn *put, size_t rows);

#endif
