/* SPDX-License-Identifier: MIT */
/*
 * top_n.h - the first few fibers by what they do now
 *
 * Like order.h, but cpu and switches count since the last look, the memory is kept from look to look, and a fiber that is
 * not among the first costs one comparison and no copy.
 */
#ifndef INS_TOP_N_H
#define INS_TOP_N_H

#include "inspect/query/delta.h"
#include "inspect/query/fields.h"

struct ins_top_n_row {
	struct ins_fiber fiber; /* without its stack */
	struct ins_fiber_delta did;
	/* What it is ordered by. */
	struct ins_value value;
	char text[256];
	uint64_t came;
};

struct ins_top_n;

int ins_top_n_new(size_t most, struct ins_top_n **ret); /* -ENOMEM */
void ins_top_n_free(struct ins_top_n *top_n);		/* NULL: nothing */

/* Begin a look, by field, the largest first when backwards. Whoever has nothing there is last; those that are equal: the one that
 * was switched to more often, then the one that came first. */
void ins_top_n_begin(struct ins_top_n *top_n, const struct ins_field *field, bool backwards);

void ins_top_n_add(struct ins_top_n *top_n, struct ins_sight *sight,
		   const struct ins_fiber_delta *did);

/* After the last one: puts them in order. How many there are. */
size_t ins_top_n_end(struct ins_top_n *top_n);

const struct ins_top_n_row *ins_top_n_at(const struct ins_top_n *top_n, size_t i);

#endif
