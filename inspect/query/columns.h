/* SPDX-License-Identifier: MIT */
/* columns.h - print fibers as a table of some of their fields */
#ifndef INS_COLUMNS_H
#define INS_COLUMNS_H

#include "inspect/query/fields.h"

#define INS_COLUMNS 32

struct ins_column {
	struct ins_field field;
	unsigned width;	 /* 0: as wide as its values */
	bool right;	 /* right-aligned */
	const char *gap; /* blanks before the next column */
};

struct ins_columns {
	unsigned count;
	struct ins_column column[INS_COLUMNS];
};

/*
 * names: fields separated by commas, "all", or NULL for the default columns. -EINVAL with error
 * set.
 */
int ins_columns_parse(const char *names, struct ins_columns *ret, struct ins_error *error);

/* Add what the columns need to the request. */
void ins_columns_want(const struct ins_columns *columns, struct ins_request *request);

/* Append the title line, or the line of a fiber, without a newline. */
void ins_columns_title(const struct ins_columns *columns, struct ins_strbuf *line);
void ins_columns_row(const struct ins_columns *columns, struct ins_sight *sight,
		     struct ins_strbuf *line);

#endif
