/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the commands that both tools have
 *
 * Each is a file cmd_<name>.c in this folder. It needs only a source, which the tool opens. So it
 * works for a running program, a snapshot and a core file. The tables in fiberctl.c and
 * fibertrace.c list these commands.
 */
#ifndef TOOL_CMD_COMMANDS_H
#define TOOL_CMD_COMMANDS_H

#include "tool/tool.h"

extern const struct tool_command tool_list, tool_show, tool_bt, tool_stacks, tool_tree, tool_waits,
	tool_why, tool_deadlock, tool_diff, tool_completion;

#endif
