/* SPDX-License-Identifier: MIT */
/*
 * terminal.h - run a tool on a pseudoterminal
 *
 * The tool's output is searched as written, with its escape sequences: a text is found only if it
 * was written in one piece.
 */
#ifndef HARNESS_CLI_TERMINAL_H
#define HARNESS_CLI_TERMINAL_H

#include <termios.h>

#include "tests/harness/cli/cli.h"

#define TERMINAL_SEEN (1u << 20)

struct terminal {
	pid_t pid;
	int keys;  /* the master end */
	int lines; /* the tool's end, kept open after the tool exits */
	struct termios before;
	size_t used;
	char seen[TERMINAL_SEEN];
};

/* Start a built program (or an absolute path) with arguments up to NULL on a terminal of this kind
 * ($TERM), with 40 lines of 120 characters. */
struct terminal *terminal_start(const char *kind, const char *program, ...)
	__attribute__((sentinel));

void terminal_resize(struct terminal *t, unsigned short rows, unsigned short columns);

/* Press keys. */
void terminal_type(struct terminal *t, const char *keys);

/* Read the output of the next ms. False if there was none. */
bool terminal_look(struct terminal *t, int ms);

/* Wait until text is drawn after the last terminal_forget(); asserts that it comes. */
void terminal_await(struct terminal *t, const char *text);
void terminal_forget(struct terminal *t);
bool terminal_has(const struct terminal *t, const char *text);

/* Assert that the terminal is in its mode of before the start. */
void terminal_expect_mode(const struct terminal *t);

/* Wait for the tool's end; returns its status as from waitpid(2). Asserts that the terminal is in
 * its mode of before the start, and frees. */
int terminal_end(struct terminal *t);

/* terminal_end(), and assert that `last` was written since the last terminal_forget(). */
int terminal_end_saying(struct terminal *t, const char *last);

#endif
