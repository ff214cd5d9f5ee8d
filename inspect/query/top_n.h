/* SPDX-License-Identifier: MIT */
/*
 * top_n.h - the first few fibers by what they do now
 *
 * Like order.h, but cpu and switches count since the last look, and memory is reused from look to
 * look. A fiber that is not among the first costs one comparison and no copy.
 */
#ifndef INS_TOP_N_H
#define INS_TOP_N_H

#include "inspect/query/delta.h"
#include "inspect/query/fields.h"

struct ins_top_n_row {
	struct ins_fiber fiber; /* without its stack */
	struct ins_fiber_delta did;
	/* What the row is sorted by. */
	struct ins_value value;
	char text[256];
	uint64_t came;
};

struct ins_top_n;

int ins_top_n_new(size_t most, struct ins_top_n **ret); /* -ENOMEM */
void ins_top_n_free(struct ins_top_n *top_n);		/* NULL: nothing */

/*
 * Begin a look sorted by field; backwards: the largest first. Fibers without a value are last.
 * Equal fibers: more switches first, then input order.
 */
void ins_top_n_begin(struct ins_top_n *top_n, const struct ins_field *field, bool backwards);

void ins_top_n_add(struct ins_top_n *top_n, struct ins_sight *sight,
		   const struct ins_fiber_delta *did);

/* After the last fiber: sort. Returns the number of rows. */
size_t ins_top_n_end(struct ins_top_n *top_n);

const struct ins_top_n_row *ins_top_n_at(const struct ins_top_n *top_n, size_t i);

#endif
