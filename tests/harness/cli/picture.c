/* SPDX-License-Identifier: MIT */
/* picture.c - render a tool's terminal output to a screen */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/harness/cli/picture.h"
#include "tests/harness/clock.h"

#define REDRAW "\f"
#define CLEAR  "\033[H\033[J" /* starts every picture */

static void clear(struct picture *p, unsigned row, unsigned from, unsigned to)
{
	memset(p->line[row] + from, ' ', to - from);
}

static void put(struct picture *p, char c)
{
	if (p->column >= p->columns || p->row >= p->rows) {
		p->outside = true;
		return;
	}
	p->line[p->row][p->column++] = c;
	if (p->row < p->lowest)
		p->whole = false;
	else
		p->lowest = p->row;
}

/* The number at *at, which is moved past it; 1 if there is none. */
static unsigned number(const char **at, const char *end)
{
	unsigned n = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		n = n * 10 + (unsigned)(**at - '0');
	return n ? n : 1;
}

/* Interpret the sequence after "\033[". Returns its end. */
static const char *take_sequence(struct picture *p, const char *at, const char *end)
{
	const bool zero = at < end && !(*at >= '1' && *at <= '9');
	unsigned a = number(&at, end), b = 1, row;

	for (; at < end && (*at < '@' || *at > '~'); at++)
		if (*at == ';' && at + 1 < end) {
			at++;
			b = number(&at, end);
			at--;
		}
	if (at == end)
		return end;
	if (*at == 'H')
		p->row = a - 1, p->column = b - 1;
	else if (*at == 'A')
		p->row -= a < p->row ? a : p->row;
	else if (*at == 'B')
		p->row += a;
	else if (*at == 'C')
		p->column += a;
	else if (*at == 'D')
		p->column -= a < p->column ? a : p->column;
	else if (*at == 'K' && p->row < p->rows && p->column < p->columns)
		clear(p, p->row, zero ? p->column : 0, zero ? p->columns : p->column + 1);
	else if (*at == 'J' && zero && p->row < p->rows)
		for (row = p->row; row < p->rows; row++)
			clear(p, row, row == p->row ? p->column : 0, p->columns);
	return at + 1;
}

static const char *take(struct picture *p, const char *at, const char *end)
{
	const char c = *at++;

	if (c == '\033') {
		if (at < end && *at == '[')
			return take_sequence(p, at + 1, end);
		/* a sequence that selects a character set has one more byte */
		return at < end ? at + (strchr("()", *at) ? 2 : 1) : end;
	}
	if (c == '\r')
		p->column = 0;
	else if (c == '\n')
		p->row++;
	else if (c == '\b')
		p->column -= p->column > 0;
	else if (c == '\t')
		p->column = (p->column | 7) + 1;
	else if ((unsigned char)c >= ' ')
		put(p, c);
	return at;
}

static const char *last_clear(const struct terminal *t)
{
	const char *found = NULL, *at = t->seen, *end = at + t->used;

	while ((at = memmem(at, (size_t)(end - at), CLEAR, strlen(CLEAR)))) {
		found = at;
		at += strlen(CLEAR);
	}
	return found;
}

void picture_of(const struct terminal *t, unsigned rows, unsigned columns, struct picture *ret)
{
	const char *at, *end = t->seen + t->used;

	assert_true(rows <= PICTURE_ROWS && columns <= PICTURE_COLUMNS);
	*ret = (struct picture){.rows = rows, .columns = columns};
	for (unsigned i = 0; i < rows; i++)
		clear(ret, i, 0, columns);
	at = last_clear(t);
	ret->whole = at != NULL;
	if (!at)
		at = end;
	while (at < end)
		at = take(ret, at, end);
	for (unsigned i = 0; i < rows; i++)
		for (size_t n = columns; n && ret->line[i][n - 1] == ' '; n--)
			ret->line[i][n - 1] = 0;
}

static bool ends_with(const char *line, const char *end)
{
	const size_t n = strlen(line), k = strlen(end);

	return n >= k && strcmp(line + n - k, end) == 0;
}

void picture_await(struct terminal *t, unsigned rows, unsigned columns, const char *last,
		   struct picture *ret)
{
	const time_t end = time(NULL) + harness_seconds(CLI_SECONDS);

	terminal_forget(t);
	terminal_type(t, REDRAW);
	do {
		/* The screen may have been drawn for the previous size. */
		if (!terminal_look(t, 100)) {
			terminal_forget(t);
			terminal_type(t, REDRAW);
		}
		picture_of(t, rows, columns, ret);
		if (time(NULL) >= end) {
			picture_print(ret);
			fail_msg("this is not %u rows of %u columns that end with '%s'", rows,
				 columns, last);
		}
	} while (!ret->whole || ret->outside || !ends_with(ret->line[rows - 1], last));
}

int picture_find(const struct picture *p, int from, const char *text)
{
	for (unsigned i = (unsigned)from; i < p->rows; i++)
		if (strstr(p->line[i], text))
			return (int)i;
	return -1;
}

void picture_print(const struct picture *p)
{
	for (unsigned i = 0; i < p->rows; i++)
		print_error("|%s\n", p->line[i]);
}
