/* SPDX-License-Identifier: MIT */
/*
 * command.h - run a command of fiberctl to its end
 *
 * The output is ignored, but the exit code must be one of the documented ones.
 */
#ifndef FUZZ_COMMAND_H
#define FUZZ_COMMAND_H

#include <string.h>

#include "fiberctl/fiberctl.h"
#include "fuzz.h"
#include "tool/command.h"

/* The arguments of each command besides the process and --json. No command that runs until
 * interrupted. Inputs refer to the commands by index: add new ones at the end. */
static const struct {
	const char *name, *word;
	uint64_t options;
} command_calls[] = {
	{"list", NULL, 0},     {"show", "7", 0},
	{"bt", "7", 0},	       {"bt", NULL, TOOL_TAKES(TOOL_OPT_ALL)},
	{"policy", NULL, 0},   {"policy", "error", 0},
	{"carriers", NULL, 0}, {"cancel", "7", 0},
	{"wake", "7", 0},      {"audit", NULL, 0},
	{"stacks", NULL, 0},   {"deadlock", NULL, 0},
	{"watchdog", NULL, 0}, {"metrics", NULL, 0},
	{"slow", NULL, 0},     {"pinned", NULL, 0},
	{"tree", NULL, 0},     {"waits", NULL, 0},
};

/* Discard what the tool prints. Descriptors 1 and 2 stay those of the fuzzer. */
static inline void command_silence(void)
{
	stdout = fopen("/dev/null", "we");
	stderr = fopen("/dev/null", "we");
	fuzz_must(stdout && stderr);
}

/* Run the command that the first two bytes of an input choose. process: a path. */
static inline void command_run(const uint8_t *choice, const char *process)
{
	const size_t call = choice[0] % (sizeof command_calls / sizeof command_calls[0]);
	const struct tool_command *command;
	struct tool_arguments arguments = {.words = 1};
	int code, i;

	tool = &fiberctl;
	command = tool_command_find(command_calls[call].name);
	fuzz_must(command);
	arguments.json = choice[1] & 1;
	arguments.word[0] = process;
	arguments.word[1] = command_calls[call].word;
	arguments.words += command_calls[call].word != NULL;
	arguments.given = command_calls[call].options;
	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if (arguments.given & TOOL_TAKES(i))
			arguments.option[i] = "";
	code = command->run(&arguments);
	fuzz_must(code == TOOL_WELL || code == TOOL_PARTIAL || code == TOOL_CANNOT ||
		  code == TOOL_FOUND || (code == TOOL_USAGE && arguments.json));
}

#endif
