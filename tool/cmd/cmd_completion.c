/* SPDX-License-Identifier: MIT */
/* cmd_completion.c - print a shell's completion script, and answer its questions */
#include <stdio.h>
#include <string.h>

#include "tool/completion/completion.h"
#include "tool/cmd/commands.h"
#include "tool/report.h"

enum { MOST = 1024 };

/*
 * Answer a script: standard input has the words of a command line, each ended by NUL, the last one
 * being typed.
 */
static int answer(void)
{
	static char text[1 << 17];
	static const char *words[MOST];
	const size_t size = fread(text, 1, sizeof text - 1, stdin);
	size_t at, count = 0;

	for (at = 0; at < size && count < MOST; at += strlen(text + at) + 1)
		words[count++] = text + at;
	tool_completion_offer(words, count);
	return tool_written(TOOL_WELL);
}

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
		return tool_wrong(&tool_completion,
				  "--json: a completion script has no JSON form: leave --json out");
	for (i = 0; i < sizeof shells / sizeof shells[0]; i++) {
		if (strcmp(shells[i].shell, arguments->word[0]) == 0) {
			shells[i].print();
			return tool_written(TOOL_WELL);
		}
	}
	if (strcmp(arguments->word[0], "words") == 0)
		return answer();
	return tool_wrong(&tool_completion, "%s: not a known shell: bash, zsh or fish",
			  arguments->word[0]);
}

const struct tool_command tool_completion = {
	.name = "completion",
	.usage = "bash|zsh|fish",
	.summary = "print a completion script for a shell",
	.help = "Completes commands, options and their arguments, the processes that can be\n"
		"asked, fields, settings, and files. 'make install' puts the script where the\n"
		"shells look for it. To try it in bash, run 'eval' on the output. The script asks\n"
		"this program for the possible words ('completion words'), so it is never out of\n"
		"date.\n",
	.example = "completion bash > fiber.bash; . ./fiber.bash\n",
	.least = 1,
	.most = 1,
	.run = run,
};
