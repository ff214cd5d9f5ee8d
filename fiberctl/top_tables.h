/* SPDX-License-Identifier: MIT */
/*
 * top_tables.h - the tables of `fiberctl top`: carriers, groups, fibers
 *
 * A table is as wide as its content, within the screen's width. On a narrow screen columns move
 * together, the text at the end is cut between words, and the least important columns are left out.
 * Only text cells are cut.
 */
#ifndef FIBERCTL_TOP_TABLES_H
#define FIBERCTL_TOP_TABLES_H

#include "fiberctl/top.h"

enum { CTL_TOP_COLUMNS = 9 };

struct ctl_top_column {
	const char *title;     /* NULL: the name of the field from title_of */
	unsigned wide, narrow; /* minimum width on a wide and on a narrow screen */
	unsigned gap;	       /* blanks before the column */
	unsigned rank;	       /* a column with a larger rank is left out first */
	bool left;	       /* left-aligned, else right-aligned */
	unsigned least;	       /* of a text: minimum width when cut; 0: never cut */
	void (*say)(const struct ctl_top *top, size_t i, struct ins_strbuf *line);
	const struct ins_field *(*title_of)(const struct ctl_top *top);
};

struct ctl_top_table {
	const struct ctl_top *top;
	size_t count;
	struct ctl_top_column column[CTL_TOP_COLUMNS];
	size_t width[CTL_TOP_COLUMNS];
};

/* -- top_cells.c: the tables of the last look -- */
struct ctl_top_table ctl_top_carrier_table(const struct ctl_top *top);
struct ctl_top_table ctl_top_group_table(const struct ctl_top *top);
struct ctl_top_table ctl_top_fiber_table(const struct ctl_top *top);

/* -- top_tables.c -- */

/* Leave out a column; call it before the fit. */
void ctl_top_table_drop(struct ctl_top_table *table, size_t column);

/* Fit the table for `rows` rows from first on into `width` columns; 0: unlimited. */
void ctl_top_table_fit(struct ctl_top_table *table, size_t first, size_t rows, size_t width);

/* Only after the fit. */
void ctl_top_table_title(const struct ctl_top_table *table, struct ins_strbuf *line);
void ctl_top_table_row(const struct ctl_top_table *table, size_t i, struct ins_strbuf *line);

#endif
