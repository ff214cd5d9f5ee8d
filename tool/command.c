/* SPDX-License-Identifier: MIT */
/* command.c - find a command by its name, and check its arguments */
#include "tool/command.h"

#include <string.h>

#include "tool/report.h"

const struct tool_command *tool_command_find(const char *name)
{
	size_t i;

	for (i = 0; tool->commands[i]; i++)
		if (strcmp(tool->commands[i]->name, name) == 0)
			return tool->commands[i];
	return NULL;
}

int tool_command_takes(const struct tool_command *command, const struct tool_arguments *arguments)
{
	int i;

	for (i = 0; i < TOOL_OPT_COUNT && !command->passes; i++)
		if (arguments->given & ~(command->options | tool->options) & TOOL_TAKES(i))
			return tool_wrong(command, "--%s: does not go with this command",
					  tool_options[i].name);
	if (arguments->words > command->most)
		return tool_wrong(command, "%s: one argument too many",
				  arguments->word[command->most]);
	if (arguments->words < command->least)
		return tool_wrong(command, "%s%sneeds %s", command->name,
				  command->name[0] ? ": " : "", command->usage);
	return TOOL_WELL;
}
