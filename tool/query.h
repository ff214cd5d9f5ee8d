/* SPDX-License-Identifier: MIT */
/* query.h - the query that the options of a command ask for. */
#ifndef TOOL_QUERY_H
#define TOOL_QUERY_H

#include "inspect/query/query.h"
#include "tool/tool.h"

/*
 * Build it from --where, --sort, --columns and --group-by, of which the command takes those that it takes. limit: rows.
 * TOOL_WELL, or the exit code after a line on stderr; ret is to be dropped (ins_query_drop()) in both cases.
 */
int tool_query(const struct tool_command *command, const struct tool_arguments *arguments,
	       uint64_t limit, struct ins_query *ret);

#endif
