/* SPDX-License-Identifier: MIT */
/*
 * completion.h - what shells are told of the command line
 *
 * Made of the tables of commands, options and topics: what is added there is completed.
 */
#ifndef TOOL_COMPLETION_H
#define TOOL_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/tool.h"

/* What can be completed for a word of a command, or for the argument of an option. */
enum tool_hint { TOOL_HINT_NONE, TOOL_HINT_PROCESS, TOOL_HINT_FILE, TOOL_HINT_CHOICE };

/* Word n of a usage, from 0: "PROCESS", or "warn error silent" of "[warn|error|silent]". False behind the last, or
 * where another way to call the command begins. */
bool tool_usage_word(const char *usage, int n, char *buf, size_t size);
enum tool_hint tool_hint(const char *word);

/* Prints a completed process: its id and its name, a line each, where the name needs no quotes. For a shell's $(). */
#define TOOL_COMPLETION_PROCESSES                                                                  \
	"fiberctl --json 2>/dev/null | grep -oE '^\\{\"pid\":[0-9]+,\"name\":\"[A-Za-z0-9._-]*' |" \
	" sed -e 's/^{\"pid\"://' -e 's/,\"name\":\"/\\n/' | grep ."

/* Print a text and a newline, with the name of the tool where TOOL_NAME is. */
#define TOOL_NAME "\1"
void tool_completion_say(const char *text);

/* A whole script, on standard output. */
void tool_completion_bash(void);
void tool_completion_zsh(void);
void tool_completion_fish(void);

#endif
