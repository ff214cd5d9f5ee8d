/* SPDX-License-Identifier: MIT */
/* tally.h - fibers counted by the value of one of their fields. */
#ifndef INS_TALLY_H
#define INS_TALLY_H

#include "inspect/fields.h"

#define INS_TALLY_SAMPLES 8

/* The fibers that share a value. */
struct ins_count {
	bool known;  /* false: those that have nothing there */
	char *value; /* as ins_field_say() says it; "-" for nothing */
	char *text;  /* of a text: as the program has it, perhaps not for a terminal; else NULL */
	uint64_t count;
	int64_t age_min, age_median, age_max; /* ns; median after ins_tally_sort() */
	uint64_t cpu;			      /* ns, of all of them */
	unsigned samples;
	uint64_t sample[INS_TALLY_SAMPLES]; /* ids of those that came first */
	int64_t *ages;
	size_t ages_room;
};

struct ins_tally;

int ins_tally_new(const struct ins_field *field, struct ins_tally **ret); /* -ENOMEM */
void ins_tally_free(struct ins_tally *tally);				  /* NULL: nothing */
int ins_tally_add(struct ins_tally *tally, struct ins_sight *sight);	  /* -ENOMEM */

/* The most first, then by value. Medians are computed. */
void ins_tally_sort(struct ins_tally *tally);

size_t ins_tally_count(const struct ins_tally *tally);
const struct ins_count *ins_tally_at(const struct ins_tally *tally, size_t i);

#endif
