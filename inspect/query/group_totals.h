/* SPDX-License-Identifier: MIT */
/*
 * group_totals.h - totals of the fibers that share a value of a field
 *
 * Like tally.h, but for repeated looks: a value becomes a text only when it is shown, and the
 * memory is reused from look to look.
 */
#ifndef INS_GROUP_TOTALS_H
#define INS_GROUP_TOTALS_H

#include "inspect/query/delta.h"
#include "inspect/query/fields.h"

struct ins_group_total {
	uint64_t count;
	uint64_t cpu, switches; /* since the last look */
	int64_t age_max;	/* ns */
	uint64_t sample;	/* id of the first one added */
	uint64_t hash;
	struct ins_value value; /* its text is in the texts */
	size_t text;		/* of a text: its offset in the texts */
};

struct ins_group_totals;

int ins_group_totals_new(struct ins_group_totals **ret);	   /* -ENOMEM */
void ins_group_totals_free(struct ins_group_totals *group_totals); /* NULL: nothing */

/* Begin a look that groups by field. */
void ins_group_totals_begin(struct ins_group_totals *group_totals, const struct ins_field *field);
int ins_group_totals_add(struct ins_group_totals *group_totals, struct ins_sight *sight,
			 const struct ins_fiber_delta *did); /* -ENOMEM */

/*
 * After the last fiber: sort by count, largest first, then by value. Returns the number of values.
 */
size_t ins_group_totals_end(struct ins_group_totals *group_totals);

const struct ins_group_total *ins_group_totals_at(const struct ins_group_totals *group_totals,
						  size_t i);

/* The value with its text, valid until another fiber is added. */
struct ins_value ins_group_totals_value(const struct ins_group_totals *group_totals, size_t i);

/* Append the value in the form for people. */
void ins_group_totals_say(const struct ins_group_totals *group_totals, size_t i,
			  struct ins_strbuf *line);

#endif
