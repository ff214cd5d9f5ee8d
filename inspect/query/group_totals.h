/* SPDX-License-Identifier: MIT */
/*
 * group_totals.h - what the fibers that share a value of a field do together
 *
 * Like tally.h, but for looks that follow one another: no text is made of a value before it is shown, and the memory is kept
 * from look to look.
 */
#ifndef INS_GROUP_TOTALS_H
#define INS_GROUP_TOTALS_H

#include "inspect/query/delta.h"
#include "inspect/query/fields.h"

struct ins_group_total {
	uint64_t count;
	uint64_t cpu, switches; /* since the last look */
	int64_t age_max;	/* ns */
	uint64_t sample;	/* the id of the one that came first */
	uint64_t hash;
	struct ins_value value; /* its text is not set */
	size_t text;		/* of a text: where in the texts it begins */
};

struct ins_group_totals;

int ins_group_totals_new(struct ins_group_totals **ret);	   /* -ENOMEM */
void ins_group_totals_free(struct ins_group_totals *group_totals); /* NULL: nothing */

/* Begin a look, by field. */
void ins_group_totals_begin(struct ins_group_totals *group_totals, const struct ins_field *field);
int ins_group_totals_add(struct ins_group_totals *group_totals, struct ins_sight *sight,
			 const struct ins_fiber_delta *did); /* -ENOMEM */

/* After the last one: the most first, then in the order of their values. How many values there are. */
size_t ins_group_totals_end(struct ins_group_totals *group_totals);

const struct ins_group_total *ins_group_totals_at(const struct ins_group_totals *group_totals,
						  size_t i);

/* The value, of a text the text itself, valid until another is added. */
struct ins_value ins_group_totals_value(const struct ins_group_totals *group_totals, size_t i);

/* Append the value as a person reads it. */
void ins_group_totals_say(const struct ins_group_totals *group_totals, size_t i,
			  struct ins_strbuf *line);

#endif
