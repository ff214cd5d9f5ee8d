/* SPDX-License-Identifier: MIT */
/*
 * shares.h - what the fibers that share a value of a field do together
 *
 * Like tally.h, but for looks that follow one another: no text is made of a value before it is shown, and the memory is kept
 * from look to look.
 */
#ifndef INS_SHARES_H
#define INS_SHARES_H

#include "inspect/query/change.h"
#include "inspect/query/fields.h"

struct ins_share {
	uint64_t count;
	uint64_t cpu, switches; /* since the last look */
	int64_t age_max;	/* ns */
	uint64_t sample;	/* the id of the one that came first */
	uint64_t hash;
	struct ins_value value; /* its text is not set */
	size_t text;		/* of a text: where in the texts it begins */
};

struct ins_shares;

int ins_shares_new(struct ins_shares **ret);	 /* -ENOMEM */
void ins_shares_free(struct ins_shares *shares); /* NULL: nothing */

/* Begin a look, by field. */
void ins_shares_begin(struct ins_shares *shares, const struct ins_field *field);
int ins_shares_add(struct ins_shares *shares, struct ins_sight *sight,
		   const struct ins_did *did); /* -ENOMEM */

/* After the last one: the most first, then in the order of their values. How many values there are. */
size_t ins_shares_end(struct ins_shares *shares);

const struct ins_share *ins_shares_at(const struct ins_shares *shares, size_t i);

/* The value, of a text the text itself, valid until another is added. */
struct ins_value ins_shares_value(const struct ins_shares *shares, size_t i);

/* Append the value as a person reads it. */
void ins_shares_say(const struct ins_shares *shares, size_t i, struct ins_line *line);

#endif
