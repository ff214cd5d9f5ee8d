/* SPDX-License-Identifier: MIT */
/* tally.h - fibers counted by the value of one of their fields. */
#ifndef INS_TALLY_H
#define INS_TALLY_H

#include "inspect/query/fields.h"
#include "inspect/text/sample.h"
#include "inspect/text/distribution.h"

/* The fibers that share a value. */
struct ins_count {
	bool known;  /* false: those that have nothing there */
	char *value; /* as ins_field_say() says it; "-" for nothing */
	/* Of a text: as the program has it, perhaps not for a terminal. Else NULL. */
	const char *text;
	uint64_t count;
	uint64_t cpu;		      /* ns, of all of them */
	struct ins_distribution ages; /* ns */
	struct ins_sample ids;	      /* the lowest ones */
};

struct ins_tally;

int ins_tally_new(const struct ins_field *field, struct ins_tally **ret); /* -ENOMEM */
void ins_tally_free(struct ins_tally *tally);				  /* NULL: nothing */
int ins_tally_add(struct ins_tally *tally, struct ins_sight *sight);	  /* -ENOMEM */

/* After the last add: the most first, then by value. Medians are found. */
void ins_tally_sort(struct ins_tally *tally);

size_t ins_tally_count(const struct ins_tally *tally);
/* After the sort. */
const struct ins_count *ins_tally_at(const struct ins_tally *tally, size_t i);

#endif
