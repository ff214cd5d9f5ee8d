/* SPDX-License-Identifier: MIT */
/* account_waits.h - collect the rows of what was waited for, and where */
#ifndef INS_ACCOUNT_WAITS_H
#define INS_ACCOUNT_WAITS_H

#include "inspect/recording/account_rows.h"
#include "inspect/text/pairs.h"
#include "inspect/recording/sample_match.h"
#include "inspect/text/distribution.h"

/* Set the first three and zero the rest. */
struct ins_account_waits {
	struct ins_account *account;
	const struct ins_recording *recording;
	const struct ins_sample_match *seen;
	struct ins_pairs rows, stacks;	  /* by the fields that identify a row; stacks by their
					   * text */
	struct ins_pairs objects, fibers; /* already counted in a row, in a stack */
	struct ins_distribution *lengths; /* one per row */
	size_t rows_room, stacks_room;
};

/* Add a wait, also one that held its carrier. -ENOMEM. */
int ins_account_waits_add(struct ins_account_waits *waits, const struct ins_slice *slice);

/* After the last wait: compute the medians and sort, the longest first. */
void ins_account_waits_end(struct ins_account_waits *waits);

/* Free the working memory. */
void ins_account_waits_drop(struct ins_account_waits *waits);

#endif
