/* SPDX-License-Identifier: MIT */
/* columns.h - fibers as a table of some of their fields. */
#ifndef INS_COLUMNS_H
#define INS_COLUMNS_H

#include "inspect/query/fields.h"

#define INS_COLUMNS 32

struct ins_column {
	struct ins_field field;
	unsigned width;	 /* 0: as wide as what is in it */
	bool right;	 /* to the right of it */
	const char *gap; /* blanks before the next one */
};

struct ins_columns {
	unsigned count;
	struct ins_column column[INS_COLUMNS];
};

/* names: fields with commas between, "all", or NULL for what a plain list has. -EINVAL with error set. */
int ins_columns_parse(const char *names, struct ins_columns *ret, struct ins_error *error);

/* Add to the request what they need. */
void ins_columns_want(const struct ins_columns *columns, struct ins_request *request);

/* The line over them, a fiber's line: appended, without a newline. */
void ins_columns_title(const struct ins_columns *columns, struct ins_strbuf *line);
void ins_columns_row(const struct ins_columns *columns, struct ins_sight *sight,
		     struct ins_strbuf *line);

#endif
