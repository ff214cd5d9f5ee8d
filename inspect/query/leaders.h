/* SPDX-License-Identifier: MIT */
/*
 * leaders.h - the first few fibers by what they do now
 *
 * Like order.h, but cpu and switches count since the last look, the memory is kept from look to look, and a fiber that is
 * not among the first costs one comparison and no copy.
 */
#ifndef INS_LEADERS_H
#define INS_LEADERS_H

#include "inspect/query/change.h"
#include "inspect/query/fields.h"

struct ins_leader {
	struct ins_fiber fiber; /* without its stack */
	struct ins_did did;
	/* What it is ordered by. */
	struct ins_value value;
	char text[256];
	uint64_t came;
};

struct ins_leaders;

int ins_leaders_new(size_t most, struct ins_leaders **ret); /* -ENOMEM */
void ins_leaders_free(struct ins_leaders *leaders);	    /* NULL: nothing */

/* Begin a look, by field, the largest first when backwards. Whoever has nothing there is last; those that are equal: the one that
 * was switched to more often, then the one that came first. */
void ins_leaders_begin(struct ins_leaders *leaders, const struct ins_field *field, bool backwards);

void ins_leaders_add(struct ins_leaders *leaders, struct ins_sight *sight,
		     const struct ins_did *did);

/* After the last one: puts them in order. How many there are. */
size_t ins_leaders_end(struct ins_leaders *leaders);

const struct ins_leader *ins_leaders_at(const struct ins_leaders *leaders, size_t i);

#endif
