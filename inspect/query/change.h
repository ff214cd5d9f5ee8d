/* SPDX-License-Identifier: MIT */
/*
 * change.h - what each fiber did since the last look
 *
 * A fiber's record counts since it was spawned. Who is busy now can only be told from two looks, so the counts of the
 * one before are kept: 24 bytes a fiber.
 */
#ifndef INS_CHANGE_H
#define INS_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/model/source.h"

/* What one fiber did between the look before and this one. */
struct ins_did {
	bool known;   /* there was a look before */
	bool fresh;   /* and the fiber was not in it: then this is all it ever did */
	uint64_t cpu; /* ns */
	uint64_t switches;
};

struct ins_change;

int ins_change_new(struct ins_change **ret);	 /* -ENOMEM */
void ins_change_free(struct ins_change *change); /* NULL: nothing */

/* There is one look only, of what is a file: what a fiber did is then since it was spawned. Before the first look. */
void ins_change_of_lives(struct ins_change *change);

/* Begin a look. What was added since the last call is the look before. */
void ins_change_begin(struct ins_change *change);

/* A fiber of this look, each id once. -ENOMEM. */
int ins_change_add(struct ins_change *change, const struct ins_fiber *fiber, struct ins_did *ret);

/* After the last fiber: ns between the two looks, of lives the longest; 0 when there is nothing to compare with. */
int64_t ins_change_ns(const struct ins_change *change);

/* After the last fiber: how many were not in the look before, and how many of that one are gone. */
uint64_t ins_change_fresh(const struct ins_change *change);
uint64_t ins_change_gone(const struct ins_change *change);

#endif
