/* SPDX-License-Identifier: MIT */
/*
 * picture.h - what somebody sees on the terminal of a tool
 *
 * Understands as much of a vt100 as curses uses to draw a whole screen.
 */
#ifndef HARNESS_CLI_PICTURE_H
#define HARNESS_CLI_PICTURE_H

#include "tests/harness/cli/terminal.h"

#define PICTURE_ROWS	64
#define PICTURE_COLUMNS 256

struct picture {
	unsigned rows, columns, row, column, lowest;
	bool whole; /* it was drawn from the beginning, row by row */
	bool outside; /* something was drawn where this screen has no row or column: it was meant for a larger one */
	char line[PICTURE_ROWS][PICTURE_COLUMNS + 1]; /* without blanks at the end */
};

/* What was drawn since the screen was last cleared, on one of that size. */
void picture_of(const struct terminal *t, unsigned rows, unsigned columns, struct picture *ret);

/*
 * Have everything drawn anew until that is a screen of that size, of which the last row ends with `last`. What keys have changed
 * must be seen in that, for it may have been drawn before they came. Only a whole picture counts: curses leaves one that
 * it brings up to date unfinished when a key comes.
 */
void picture_await(struct terminal *t, unsigned rows, unsigned columns, const char *last,
		   struct picture *ret);

/* The first row from `from` on that has the text in it; -1: none. */
int picture_find(const struct picture *p, int from, const char *text);

/* Print it: for a test that fails. */
void picture_print(const struct picture *p);

#endif
