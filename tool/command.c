/* SPDX-License-Identifier: MIT */
/* command.c - find a command by its name, and check its arguments */
#include "tool/command.h"

#include <stdio.h>
#include <string.h>

#include "tool/report.h"

#define MEANT_MOST 64 /* a longer word is no mistyped command */

/* The only command that begins so. NULL: there is none, or there are several. */
static const struct tool_command *find_beginning(const char *name)
{
	const struct tool_command *found = NULL;
	size_t i;

	for (i = 0; tool->commands[i]; i++)
		if (strncmp(tool->commands[i]->name, name, strlen(name)) == 0) {
			if (found)
				return NULL;
			found = tool->commands[i];
		}
	return found;
}

const struct tool_command *tool_command_find(const char *name)
{
	size_t i;

	for (i = 0; tool->commands[i]; i++)
		if (strcmp(tool->commands[i]->name, name) == 0)
			return tool->commands[i];
	/* Another first word may be the name of a process. */
	return tool->bare_takes || !name[0] ? NULL : find_beginning(name);
}

/* -- which one is meant -- */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * How many letters must be inserted, deleted, replaced or swapped with the next one to make b of a
 * (optimal string alignment, after Damerau, "A technique for computer detection and correction of
 * spelling errors", 1964).
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][MEANT_MOST + 1], *before = rows[0], *last = rows[1], *row = rows[2],
					  *free_;
	const size_t n = strlen(b);
	size_t i, k;

	for (k = 0; k <= n; k++)
		last[k] = (unsigned)k;
	for (i = 1; i <= strlen(a); i++) {
		row[0] = (unsigned)i;
		for (k = 1; k <= n; k++) {
			row[k] = least(least(last[k], row[k - 1]) + 1,
				       last[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = least(row[k], before[k - 2] + 1);
		}
		free_ = before;
		before = last;
		last = row;
		row = free_;
	}
	return last[n];
}

/* Whether the command may be meant: it begins so, or one or two letters are wrong. */
static bool is_meant(const char *command, const char *name)
{
	const size_t n = strlen(name);

	if (strncmp(command, name, n) == 0)
		return true;
	return n >= 2 && n <= MEANT_MOST && distance(command, name) <= (n > 4 ? 2 : 1);
}

int tool_command_unknown(const char *name)
{
	char meant[256] = "";
	size_t i, used = 0;

	for (i = 0; name[0] && tool->commands[i] && used < sizeof meant; i++)
		if (is_meant(tool->commands[i]->name, name))
			used += (size_t)snprintf(meant + used, sizeof meant - used, "%s'%s'",
						 used ? " or " : "", tool->commands[i]->name);
	if (!meant[0])
		return tool_wrong(NULL, "%s: no such command", name);
	return tool_wrong(NULL, "%s: no such command; did you mean %s?", name, meant);
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
