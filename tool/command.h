/* SPDX-License-Identifier: MIT */
/* command.h - find a command by its name, and check its arguments */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

#include "tool/tool.h"

/*
 * The tool's command of that name. Where the first word is always a command, also the only command
 * that begins so. NULL: there is none.
 */
const struct tool_command *tool_command_find(const char *name);

/* Print that there is no such command, and which ones may be meant. Returns TOOL_USAGE. */
int tool_command_unknown(const char *name);

/*
 * Check that the command accepts these words and options. TOOL_WELL, or the exit code after a line
 * on stderr.
 */
int tool_command_takes(const struct tool_command *command, const struct tool_arguments *arguments);

#endif
