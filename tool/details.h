/* SPDX-License-Identifier: MIT */
/* details.h - --args, --locals and --source: details under each frame */
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

/* Parse the options. False after a line on stderr. */
bool tool_details_parse(const struct tool_arguments *arguments, struct tool_details *ret);

/* Prepare for frames in these modules. 0 or -ENOMEM. */
int tool_details_begin(struct tool_details *details, struct ins_modules *modules);
void tool_details_end(struct tool_details *details);

/*
 * Read the variables of a fiber that has its stack; *ret is NULL if none are wanted. 0 or -ENOMEM.
 */
int tool_details_find(const struct tool_details *details, struct ins_source *source,
		      struct ins_symbols *symbols, const struct ins_fiber *fiber,
		      const struct ins_walk *walk, struct ins_variables **ret);

/* Read the variables for the group to which the fiber was just added, if it is the first member. */
int tool_details_group(const struct tool_details *details, struct ins_source *source,
		       struct ins_symbols *symbols, struct ins_groups *groups,
		       const struct ins_fiber *fiber, const struct ins_walk *walk);

/* Print the frames of a walk with the details under each; variables may be NULL. */
void tool_details_frames(const struct tool_details *details, struct ins_symbols *symbols,
			 const struct ins_walk *walk, const struct ins_variables *variables);

/* Print the frames of a group, and whose values are shown. */
void tool_details_group_frames(const struct tool_details *details, struct ins_symbols *symbols,
			       const struct ins_group *group);

#endif
