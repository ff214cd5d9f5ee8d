/* SPDX-License-Identifier: MIT */
/* query.c - build the query from the options of a command */
#include "tool/query.h"

#include <errno.h>

#include "tool/report.h"

int tool_query(const struct tool_command *command, const struct tool_arguments *arguments,
	       uint64_t limit, struct ins_query *ret)
{
	const struct ins_query_words words = {
		.where = arguments->option[TOOL_OPT_WHERE],
		.sort = arguments->option[TOOL_OPT_SORT],
		.columns = arguments->option[TOOL_OPT_COLUMNS],
		.group_by = arguments->option[TOOL_OPT_GROUP_BY],
		.limit = limit,
	};
	struct ins_error error = {""};
	const int rc = ins_query_parse(&words, ret, &error);

	if (rc == -EINVAL)
		return tool_wrong(command, "%s", error.text);
	return rc < 0 ? tool_cannot("out of memory") : TOOL_WELL;
}
