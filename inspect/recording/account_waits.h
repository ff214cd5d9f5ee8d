/* SPDX-License-Identifier: MIT */
/* account_waits.h - the rows of what was waited for, and of where, in the making. */
#ifndef INS_ACCOUNT_WAITS_H
#define INS_ACCOUNT_WAITS_H

#include "inspect/recording/account_rows.h"
#include "inspect/text/pairs.h"
#include "inspect/recording/sample_match.h"
#include "inspect/text/distribution.h"

/* Zeroed, and the first three set. */
struct ins_account_waits {
	struct ins_account *account;
	const struct ins_recording *recording;
	const struct ins_sample_match *seen;
	struct ins_pairs rows, stacks;	  /* by what makes them one; the stacks by their text */
	struct ins_pairs objects, fibers; /* of a row, of a stack: those it has been counted for */
	struct ins_distribution *lengths; /* of each row */
	size_t rows_room, stacks_room;
};

/* A wait, also one that held its carrier. -ENOMEM. */
int ins_account_waits_add(struct ins_account_waits *waits, const struct ins_slice *slice);

/* That was all: find the medians, the longest first. */
void ins_account_waits_end(struct ins_account_waits *waits);

/* Let go of what was needed for that. */
void ins_account_waits_drop(struct ins_account_waits *waits);

#endif
