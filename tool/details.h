/* SPDX-License-Identifier: MIT */
/* details.h - what --args, --locals and --source ask for under each frame. */
#ifndef TOOL_DETAILS_H
#define TOOL_DETAILS_H

#include "tool/tool.h"
#include "inspect/query/group.h"
#include "inspect/render/render_variables.h"

/* The options, for the commands that take them. */
#define TOOL_TAKES_DETAILS \
	(TOOL_TAKES(TOOL_OPT_ARGS) | TOOL_TAKES(TOOL_OPT_LOCALS) | TOOL_TAKES(TOOL_OPT_SOURCE))

struct tool_details {
	unsigned wanted; /* INS_VARIABLES_* */
	uint64_t around; /* lines of source; 0: none */
	struct ins_source_lines *lines;
};

/* What the options say. False after a line on stderr. */
bool tool_details_parse(const struct tool_arguments *arguments, struct tool_details *ret);

/* For places of these modules. 0 or -ENOMEM. */
int tool_details_begin(struct tool_details *details, struct ins_modules *modules);
void tool_details_end(struct tool_details *details);

/* The variables of a fiber whose stack is at hand, or NULL where none are wanted. 0 or -ENOMEM. */
int tool_details_find(const struct tool_details *details, struct ins_source *source,
		      struct ins_symbols *symbols, const struct ins_fiber *fiber,
		      const struct ins_walk *walk, struct ins_variables **ret);

/* The same for the group that this fiber has just been added to, if it is its first. */
int tool_details_group(const struct tool_details *details, struct ins_source *source,
		       struct ins_symbols *symbols, struct ins_groups *groups,
		       const struct ins_fiber *fiber, const struct ins_walk *walk);

/* The frames of a walk, with what was asked for under each; variables may be NULL. */
void tool_details_frames(const struct tool_details *details, struct ins_symbols *symbols,
			 const struct ins_walk *walk, const struct ins_variables *variables);

/* The frames of a group, and whose values are shown. */
void tool_details_group_frames(const struct tool_details *details, struct ins_symbols *symbols,
			       const struct ins_group *group);

#endif
