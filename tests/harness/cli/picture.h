/* SPDX-License-Identifier: MIT */
/*
 * picture.h - render a tool's terminal output to a screen
 *
 * Implements the part of a vt100 that curses uses to draw a whole screen.
 */
#ifndef HARNESS_CLI_PICTURE_H
#define HARNESS_CLI_PICTURE_H

#include "tests/harness/cli/terminal.h"

#define PICTURE_ROWS	64
#define PICTURE_COLUMNS 256

struct picture {
	unsigned rows, columns, row, column, lowest;
	bool whole;   /* it was drawn from the first row, row by row */
	bool outside; /* something was drawn outside this screen: it was meant for a larger one */
	char line[PICTURE_ROWS][PICTURE_COLUMNS + 1]; /* without trailing blanks */
};

/* Render what was drawn since the screen was last cleared, on a screen of this size. */
void picture_of(const struct terminal *t, unsigned rows, unsigned columns, struct picture *ret);

/*
 * Request redraws until the result is a complete screen of this size whose last row ends with
 * `last`. Check the effect of keys in that picture: an earlier one may have been drawn before the
 * keys came. Only a complete picture counts: curses leaves an incremental update unfinished when a
 * key comes.
 */
void picture_await(struct terminal *t, unsigned rows, unsigned columns, const char *last,
		   struct picture *ret);

/* The first row at or after `from` that contains the text; -1: none. */
int picture_find(const struct picture *p, int from, const char *text);

/* Print the picture, for a failing test. */
void picture_print(const struct picture *p);

#endif
