/* SPDX-License-Identifier: MIT */
/*
 * completion.h - what shells are told of the command line
 *
 * Made of the tables of commands, options and topics: what is added there is completed.
 */
#ifndef FIBERCTL_COMPLETION_H
#define FIBERCTL_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

#include "fiberctl/fiberctl.h"

/* What can be completed for a word of a command, or for the argument of an option. */
enum ctl_hint { CTL_HINT_NONE, CTL_HINT_PROCESS, CTL_HINT_FILE, CTL_HINT_CHOICE };

/* Word n of a usage, from 0: "PROCESS", or "warn error silent" of "[warn|error|silent]". False behind the last, or
 * where another way to call the command begins. */
bool ctl_usage_word(const char *usage, int n, char *buf, size_t size);
enum ctl_hint ctl_hint(const char *word);

/* Prints a completed process: its id and its name, a line each, where the name needs no quotes. For a shell's $(). */
#define CTL_COMPLETION_PROCESSES                                                                   \
	"fiberctl --json 2>/dev/null | grep -oE '^\\{\"pid\":[0-9]+,\"name\":\"[A-Za-z0-9._-]*' |" \
	" sed -e 's/^{\"pid\"://' -e 's/,\"name\":\"/\\n/' | grep ."

/* A whole script, on standard output. */
void ctl_completion_bash(void);
void ctl_completion_zsh(void);
void ctl_completion_fish(void);

#endif
