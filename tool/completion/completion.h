/* SPDX-License-Identifier: MIT */
/*
 * completion.h - what shells are told of the command line
 *
 * The script of a shell knows no command and no option: at every Tab it asks the tool what may stand there. So all of it is
 * made of the tables of commands, options, topics and fields, and an older script completes what a newer tool can do.
 */
#ifndef TOOL_COMPLETION_H
#define TOOL_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/tool.h"

/*
 * Print what may stand in place of the last word, which is being typed (""), behind the others, which follow the tool's name.
 * What begins otherwise than the last word is among it: shells have more than one way to compare. A line is a word, a tab,
 * and what it means; or
 *   :files, :folders   the names of files, or of folders, may stand there too
 *   :nospace           more may follow the word without a blank
 */
void tool_completion_offer(const char *const *words, size_t count);

/* -- words.c: a line, or lines -- */

enum tool_hint {
	TOOL_HINT_NONE,
	TOOL_HINT_PROCESS,
	TOOL_HINT_FILE,
	TOOL_HINT_FOLDER,
	TOOL_HINT_FIELD,  /* its name */
	TOOL_HINT_ORDER,  /* the same, perhaps behind '-' */
	TOOL_HINT_FIELDS, /* names with commas between */
	TOOL_HINT_WHERE,  /* an expression of fields */
	TOOL_HINT_CHOICE, /* one of "warn|error|silent" */
};

/* Word n of a usage, from 0: "PROCESS", or "warn|error|silent" of "[warn|error|silent]"; the last one again where the usage ends
 * with dots. False behind the last, or where another way to call the command begins. */
bool tool_usage_word(const char *usage, int n, char *buf, size_t size);

/* What a word of a usage stands for; what the argument of an option is. */
enum tool_hint tool_hint(const char *word);
enum tool_hint tool_hint_of(const struct tool_option *option);

/* Print what a hint stands for. What is typed has `kept` bytes that stay as they are: "--color=". */
void tool_completion_hint(enum tool_hint hint, const char *word, const char *typed, size_t kept);
void tool_completion_processes(void);

/* -- <shell>.c -- */

/* Print a text and a newline, with the name of the tool where TOOL_NAME is. */
#define TOOL_NAME "\1"
void tool_completion_say(const char *text);

/* A whole script, on standard output. */
void tool_completion_bash(void);
void tool_completion_zsh(void);
void tool_completion_fish(void);

#endif
