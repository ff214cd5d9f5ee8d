/* SPDX-License-Identifier: MIT */
/* cmd_completion.c - the completion of a shell, made of the tables of this program. */
#include <string.h>

#include "tool/completion.h"

static int run(const struct tool_arguments *arguments)
{
	static const struct {
		const char *shell;
		void (*print)(void);
	} shells[] = {
		{"bash", tool_completion_bash},
		{"zsh", tool_completion_zsh},
		{"fish", tool_completion_fish},
	};
	size_t i;

	if (arguments->json)
		return tool_wrong(
			&tool_completion,
			"--json: a completion is a script of its shell: leave --json out");
	for (i = 0; i < sizeof shells / sizeof shells[0]; i++) {
		if (strcmp(shells[i].shell, arguments->word[0]) == 0) {
			shells[i].print();
			return tool_written(TOOL_WELL);
		}
	}
	return tool_wrong(&tool_completion, "%s: bash, zsh or fish", arguments->word[0]);
}

const struct tool_command tool_completion = {
	.name = "completion",
	.usage = "bash|zsh|fish",
	.summary = "print the completion of a shell",
	.help = "Completes commands, their options, the processes that can be asked, and\n"
		"settings. 'make install' puts it where shells look for it. To try it in bash,\n"
		"'eval' what it prints.\n",
	.least = 1,
	.most = 1,
	.run = run,
};
