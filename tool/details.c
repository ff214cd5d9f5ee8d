/* SPDX-License-Identifier: MIT */
/* details.c - variables and source lines under each frame, for the commands that print frames */
#include "tool/details.h"

#include <inttypes.h>

#include "inspect/render/render.h"
#include "tool/report.h"

bool tool_details_parse(const struct tool_arguments *arguments, struct tool_details *ret)
{
	*ret = (struct tool_details){.wanted = 0};
	if (arguments->option[TOOL_OPT_ARGS])
		ret->wanted |= INS_VARIABLES_ARGS;
	if (arguments->option[TOOL_OPT_LOCALS])
		ret->wanted |= INS_VARIABLES_LOCALS;
	if (arguments->option[TOOL_OPT_SOURCE] && arguments->json)
		return tool_wrong(NULL, "--source: is for people: not with --json"), false;
	return tool_option_number(arguments, TOOL_OPT_SOURCE, 1, 1000, 0, &ret->around);
}

int tool_details_begin(struct tool_details *details, struct ins_modules *modules)
{
	if (!details->around)
		return 0;
	return ins_source_lines_new(modules, (unsigned)details->around, &details->lines);
}

void tool_details_end(struct tool_details *details)
{
	ins_source_lines_free(details->lines);
	details->lines = NULL;
}

int tool_details_find(const struct tool_details *details, struct ins_source *source,
		      struct ins_symbols *symbols, const struct ins_fiber *fiber,
		      const struct ins_walk *walk, struct ins_variables **ret)
{
	*ret = NULL;
	if (!details->wanted)
		return 0;
	return ins_variables_find(source, symbols, fiber, walk, details->wanted, ret);
}

int tool_details_group(const struct tool_details *details, struct ins_source *source,
		       struct ins_symbols *symbols, struct ins_groups *groups,
		       const struct ins_fiber *fiber, const struct ins_walk *walk)
{
	struct ins_group *group = ins_groups_last(groups);

	if (!group || group->count != 1)
		return 0;
	return tool_details_find(details, source, symbols, fiber, walk, &group->variables);
}

void tool_details_frames(const struct tool_details *details, struct ins_symbols *symbols,
			 const struct ins_walk *walk, const struct ins_variables *variables)
{
	struct ins_details under = {.variables = variables, .lines = details->lines};

	ins_text_frames_detailed(stdout, symbols, walk, &under);
	if (variables && variables->cut)
		puts("  more variables than are shown");
}

void tool_details_group_frames(const struct tool_details *details, struct ins_symbols *symbols,
			       const struct ins_group *group)
{
	if (group->variables && group->count > 1)
		printf("  values of fiber %" PRIu64 ":\n", group->variables->fiber);
	tool_details_frames(details, symbols, group->walk, group->variables);
}
