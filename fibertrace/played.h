/* SPDX-License-Identifier: MIT */
/*
 * played.h - what the commands over a recording do alike: open it, account for its time, show something
 *
 * The answer goes to standard output, or with --output to a file that is there whole or not at all.
 */
#ifndef FIBERTRACE_PLAYED_H
#define FIBERTRACE_PLAYED_H

#include <stdio.h>

#include "inspect/recording/account.h"
#include "tool/tool.h"

struct trace_played {
	struct ins_recording *recording;
	struct ins_replay *replay;
	struct ins_account *account; /* NULL: not asked for */
};

/* Open the recording at path. TOOL_WELL, or the exit code after a line on stderr; ret is to be closed in both cases. */
int trace_played_open(const char *path, bool account, struct trace_played *ret);
void trace_played_close(struct trace_played *played);

/* Prints an answer. 0, or a negative errno. */
typedef int trace_played_fn(FILE *out, const struct trace_played *played, size_t rows);

/* Print the answer to where --output says. rows: for put. The exit code. */
int trace_played_show(const struct trace_played *played, const struct tool_arguments *arguments,
		      trace_played_fn *put, size_t rows);

#endif
