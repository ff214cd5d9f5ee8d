/* SPDX-License-Identifier: MIT */
/* query.h - build the query from the options of a command */
#ifndef TOOL_QUERY_H
#define TOOL_QUERY_H

#include "inspect/query/query.h"
#include "tool/tool.h"

/*
 * Build the query from those of --where, --sort, --columns and --group-by that the command accepts.
 * limit: rows. Returns TOOL_WELL, or the exit code after a line on stderr. Drop ret
 * (ins_query_drop()) in both cases.
 */
int tool_query(const struct tool_command *command, const struct tool_arguments *arguments,
	       uint64_t limit, struct ins_query *ret);

#endif
