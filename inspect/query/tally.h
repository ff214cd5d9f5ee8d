/* SPDX-License-Identifier: MIT */
/* tally.h - count fibers by the value of a field */
#ifndef INS_TALLY_H
#define INS_TALLY_H

#include "inspect/query/fields.h"
#include "inspect/text/sample.h"
#include "inspect/text/distribution.h"

/* The fibers that share a value. */
struct ins_count {
	bool known;  /* false: fibers without a value */
	char *value; /* as printed by ins_field_say(); "-" for nothing */
	/* Of a text: the program's bytes, perhaps not safe for a terminal. Else NULL. */
	const char *text;
	uint64_t count;
	uint64_t cpu;		      /* ns, the sum of what is known */
	bool threads;		      /* they are threads: their ages are not known */
	struct ins_distribution ages; /* ns */
	struct ins_sample ids;	      /* the lowest ids */
};

struct ins_tally;

int ins_tally_new(const struct ins_field *field, struct ins_tally **ret); /* -ENOMEM */
void ins_tally_free(struct ins_tally *tally);				  /* NULL: nothing */
int ins_tally_add(struct ins_tally *tally, struct ins_sight *sight);	  /* -ENOMEM */

/* After the last add: sort by count, largest first, then by value. Computes the medians. */
void ins_tally_sort(struct ins_tally *tally);

size_t ins_tally_count(const struct ins_tally *tally);
/* Valid after the sort. */
const struct ins_count *ins_tally_at(const struct ins_tally *tally, size_t i);

#endif
