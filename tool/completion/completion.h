/* SPDX-License-Identifier: MIT */
/*
 * completion.h - completions for shells
 *
 * A shell's script knows no command and no option: at every Tab it asks the tool for the
 * candidates. They come from the tables of commands, options, topics and fields, so an old script
 * completes what a newer tool can do.
 */
#ifndef TOOL_COMPLETION_H
#define TOOL_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/tool.h"

/*
 * Print the candidates for the last word, which is being typed (""). The words before it follow the
 * tool's name. Candidates with another prefix are included, because shells compare in different
 * ways. A line is a word, a tab and its meaning, or
 *
 *   :files, :folders   names of files or folders are valid too
 *   :nospace           the word may be continued without a blank
 */
void tool_completion_offer(const char *const *words, size_t count);

/* -- words.c -- */

enum tool_hint {
	TOOL_HINT_NONE,
	TOOL_HINT_PROCESS,
	TOOL_HINT_FILE,
	TOOL_HINT_FOLDER,
	TOOL_HINT_FIELD,  /* a field's name */
	TOOL_HINT_ORDER,  /* a field's name, perhaps after '-' */
	TOOL_HINT_FIELDS, /* names separated by commas */
	TOOL_HINT_WHERE,  /* an expression of fields */
	TOOL_HINT_CHOICE, /* one of "warn|error|silent" */
};

/*
 * Word n of a usage, from 0: "PROCESS", or "warn|error|silent" of "[warn|error|silent]". If the
 * usage ends with dots, the last word repeats. False after the last word, or where another form of
 * the command starts.
 */
bool tool_usage_word(const char *usage, int n, char *buf, size_t size);

/* The hint for a word of a usage, and for the argument of an option. */
enum tool_hint tool_hint(const char *word);
enum tool_hint tool_hint_of(const struct tool_option *option);

/*
 * Print the candidates of a hint. The first `kept` bytes of typed stay unchanged, such as
 * "--color=".
 */
void tool_completion_hint(enum tool_hint hint, const char *word, const char *typed, size_t kept);
void tool_completion_processes(void);

/* -- <shell>.c -- */

/* Print a text and a newline; TOOL_NAME in it becomes the tool's name. */
#define TOOL_NAME "\1"
void tool_completion_say(const char *text);

/* Print the whole script. */
void tool_completion_bash(void);
void tool_completion_zsh(void);
void tool_completion_fish(void);

#endif
