/* SPDX-License-Identifier: MIT */
/* where.c - --where, for whoever shows one fiber after another. */
#include "tool/where.h"

#include "tool/report.h"

int tool_where_begin(struct tool_where *where, const struct tool_command *command,
		     const struct tool_arguments *arguments, struct ins_request *request)
{
	const char *text = arguments->option[TOOL_OPT_WHERE];
	struct ins_error error = {""};

	*where = (struct tool_where){0};
	if (!text)
		return TOOL_WELL;
	if (ins_select_parse(text, &where->select, &error) < 0)
		return tool_wrong(command, "%s", error.text);
	ins_select_wants(where->select, request);
	return TOOL_WELL;
}

void tool_where_end(struct tool_where *where)
{
	ins_select_free(where->select);
	where->select = NULL;
}

bool tool_where_test(struct tool_where *where, struct ins_source *source,
		     struct ins_symbols *symbols, const struct ins_fiber *fiber)
{
	struct ins_sight sight = {.layout = &source->layout, .symbols = symbols, .fiber = fiber};

	if (!where->select)
		return true;
	if (!where->checked)
		ins_select_check(where->select, &source->layout, &source->problems);
	where->checked = true;
	if (ins_select_test(where->select, &sight))
		return true;
	where->others++;
	source->passed += fiber->flags != 0;
	return false;
}
