/* SPDX-License-Identifier: MIT */
/*
 * terminal.h - a tool on a terminal, with somebody at its keys
 *
 * What the tool draws is searched as it was written, escape sequences and all: texts are found where they stand in one piece.
 */
#ifndef HARNESS_CLI_TERMINAL_H
#define HARNESS_CLI_TERMINAL_H

#include <termios.h>

#include "tests/harness/cli/cli.h"

#define TERMINAL_SEEN (1u << 20)

struct terminal {
	pid_t pid;
	int keys;  /* our end */
	int lines; /* the tool's end, kept so that it outlives the tool */
	struct termios before;
	size_t used;
	char seen[TERMINAL_SEEN];
};

/* Start a built program, or an absolute path, with arguments up to NULL on a terminal of that kind ($TERM), of 40 lines of 120 characters. */
struct terminal *terminal_start(const char *kind, const char *program, ...)
	__attribute__((sentinel));

void terminal_resize(struct terminal *t, unsigned short rows, unsigned short columns);

/* Press keys. */
void terminal_type(struct terminal *t, const char *keys);

/* Take what is drawn within ms. False when nothing was. */
bool terminal_look(struct terminal *t, int ms);

/* Wait until text is drawn, since the last terminal_forget(); asserts that it comes. */
void terminal_await(struct terminal *t, const char *text);
void terminal_forget(struct terminal *t);
bool terminal_has(const struct terminal *t, const char *text);

/* Assert that the terminal is in the mode it was in before the start. */
void terminal_expect_mode(const struct terminal *t);

/* Wait for the tool's end; its status as waitpid(2) gives it. Asserts that the terminal is in the mode it was in before, and frees. */
int terminal_end(struct terminal *t);

/* The same, and asserts that `last` is among what it said since the last terminal_forget(). */
int terminal_end_saying(struct terminal *t, const char *last);

#endif
