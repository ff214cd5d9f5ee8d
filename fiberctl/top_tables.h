/* SPDX-License-Identifier: MIT */
/*
 * top_tables.h - the tables of `fiberctl top`: carriers, groups, fibers
 *
 * A table is as wide as what it shows, and no wider than it may be: on a narrow screen its columns move together, the text at
 * the end keeps the words there is room for, and columns that matter least are left out. No cell but a text is ever cut.
 */
#ifndef FIBERCTL_TOP_TABLES_H
#define FIBERCTL_TOP_TABLES_H

#include "fiberctl/top.h"

enum { CTL_TOP_COLUMNS = 9 };

struct ctl_top_column {
	const char *title;     /* NULL: the name of a field, which title_of says */
	unsigned wide, narrow; /* at least, where there is room and where not */
	unsigned gap;	       /* blanks before it */
	unsigned rank;	       /* the larger, the sooner it is left out */
	bool left;	       /* its cells begin in the same column; else they end there */
	unsigned least;	       /* of a text: it may be cut down to that; 0: it may not */
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

/* Leave a column out, before it is fitted. */
void ctl_top_table_drop(struct ctl_top_table *table, size_t column);

/* Make room for rows from first on, as many as `rows`, in `width` columns; 0: there is no end to it. */
void ctl_top_table_fit(struct ctl_top_table *table, size_t first, size_t rows, size_t width);

/* Of one that was fitted. */
void ctl_top_table_title(const struct ctl_top_table *table, struct ins_strbuf *line);
void ctl_top_table_row(const struct ctl_top_table *table, size_t i, struct ins_strbuf *line);

#endif
