/* SPDX-License-Identifier: MIT */
/* top_tables.c - fit the tables of `fiberctl top` to the width, and print their lines */
#include "fiberctl/top_tables.h"

#include <string.h>

#include "fiberctl/fold.h"

enum { CELL = 512 };

void ctl_top_table_drop(struct ctl_top_table *t, size_t k)
{
	t->count--;
	memmove(&t->column[k], &t->column[k + 1], (t->count - k) * sizeof t->column[0]);
	memmove(&t->width[k], &t->width[k + 1], (t->count - k) * sizeof t->width[0]);
}

static void say_title(const struct ctl_top_table *t, size_t k, struct ins_strbuf *line)
{
	const struct ctl_top_column *c = &t->column[k];

	if (c->title)
		ins_strbuf_text(line, c->title);
	else
		ins_strbuf_quoted(line, ins_field_title(c->title_of(t->top)));
}

static size_t needed(const struct ctl_top_table *t, size_t k, size_t first, size_t rows)
{
	char buf[CELL];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);
	size_t i, columns, most;

	say_title(t, k, &line);
	most = ctl_fold_columns(buf, sizeof buf);
	for (i = first; i < first + rows; i++) {
		line = ins_strbuf(buf, sizeof buf);
		t->column[k].say(t->top, i, &line);
		columns = ctl_fold_columns(buf, sizeof buf);
		if (columns > most)
			most = columns;
	}
	return most;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t total(const struct ctl_top_table *t)
{
	size_t k, sum = 0;

	for (k = 0; k < t->count; k++)
		sum += (k ? t->column[k].gap : 0) + t->width[k];
	return sum;
}

/* Shorten the columns that may be cut, the last one first; of the last two columns any. */
static void shrink(struct ctl_top_table *t, size_t width)
{
	size_t k, over, least;

	for (k = t->count; k-- && total(t) > width;) {
		least = t->count > 2 ? t->column[k].least : 1;
		over = total(t) - width;
		if (least && t->width[k] > least)
			t->width[k] -= over < t->width[k] - least ? over : t->width[k] - least;
	}
}

static void leave_one_out(struct ctl_top_table *t)
{
	size_t k, worst = 0;

	for (k = 1; k < t->count; k++)
		if (t->column[k].rank > t->column[worst].rank)
			worst = k;
	ctl_top_table_drop(t, worst);
}

void ctl_top_table_fit(struct ctl_top_table *t, size_t first, size_t rows, size_t width)
{
	size_t need[CTL_TOP_COLUMNS], k;

	for (k = 0; k < t->count; k++) {
		need[k] = needed(t, k, first, rows);
		t->width[k] = larger(need[k], t->column[k].wide);
	}
	if (!width || total(t) <= width)
		return;
	for (k = 0; k < t->count; k++)
		t->width[k] = larger(need[k], t->column[k].narrow);
	for (;;) {
		struct ctl_top_table tried = *t;

		shrink(&tried, width);
		if (total(&tried) <= width || t->count == 1) {
			*t = tried;
			return;
		}
		leave_one_out(t);
	}
}

/* The last column is not padded. */
static void put_cell(const struct ctl_top_table *t, size_t k, char *cell, struct ins_strbuf *line)
{
	const struct ctl_top_column *c = &t->column[k];
	char *at;

	ctl_fold_truncate(cell, t->width[k]);
	ins_strbuf_bytes(line, "  ", k ? c->gap : 0);
	at = line->at;
	ins_strbuf_text(line, cell);
	if (!c->left)
		ins_strbuf_right(line, at, t->width[k]);
	else if (k + 1 < t->count)
		ins_strbuf_fill(line, at, t->width[k]);
}

void ctl_top_table_title(const struct ctl_top_table *t, struct ins_strbuf *line)
{
	char buf[CELL];
	size_t k;

	for (k = 0; k < t->count; k++) {
		struct ins_strbuf cell = ins_strbuf(buf, sizeof buf);

		say_title(t, k, &cell);
		put_cell(t, k, buf, line);
	}
}

void ctl_top_table_row(const struct ctl_top_table *t, size_t i, struct ins_strbuf *line)
{
	char buf[CELL];
	size_t k;

	for (k = 0; k < t->count; k++) {
		struct ins_strbuf cell = ins_strbuf(buf, sizeof buf);

		t->column[k].say(t->top, i, &cell);
		put_cell(t, k, buf, line);
	}
}
