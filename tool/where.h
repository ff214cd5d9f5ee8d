/* SPDX-License-Identifier: MIT */
/* where.h - --where, for whoever shows one fiber after another. */
#ifndef TOOL_WHERE_H
#define TOOL_WHERE_H

#include "tool/tool.h"
#include "inspect/query/select.h"

struct tool_where {
	struct ins_select *select; /* NULL: all */
	uint64_t others;	   /* fibers that it was not true of */
	bool checked;		   /* against the words of the program */
};

/* Take it from the command line, and add what it needs to the request. TOOL_WELL, or the exit code after a line on stderr. */
int tool_where_begin(struct tool_where *where, const struct tool_command *command,
		     const struct tool_arguments *arguments, struct ins_request *request);
void tool_where_end(struct tool_where *where);

/* Whether this fiber is meant; counted when not, and what is missing of it is not missed. */
bool tool_where_test(struct tool_where *where, struct ins_source *source,
		     struct ins_symbols *symbols, const struct ins_fiber *fiber);

#endif
