/* SPDX-License-Identifier: MIT */
/* render_top.h - the functions of a profile by the time they took, as a table or JSON */
#ifndef INS_RENDER_TOP_H
#define INS_RENDER_TOP_H

#include <stdio.h>

#include "inspect/render/flames.h"
#include "inspect/render/render.h"

/* The two values of a function. */
struct ins_top_value {
	uint64_t number, time;
};

struct ins_top_row {
	size_t function;	    /* index in the flames */
	struct ins_top_value self;  /* of stacks of which it is the innermost */
	struct ins_top_value total; /* of stacks that have it, each counted once */
};

/*
 * Every function, the one with the longest time of its own first. *ret has as many rows as flames
 * has functions, and is freed with free(). 0 or -ENOMEM.
 */
int ins_top_rows(const struct ins_flames *flames, struct ins_top_row **ret);

/* Print a title and a line for each of the first `count` rows. */
void ins_text_top(FILE *out, const struct ins_flames *flames, const struct ins_top_row *rows,
		  size_t count);

/* NULL: no memory. */
json_t *ins_json_top(const struct ins_flames *flames, const struct ins_top_row *row);

#endif
