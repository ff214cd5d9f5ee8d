/* SPDX-License-Identifier: MIT */
/*
 * sample_match.h - which waits of a recording somebody looked at while they lasted, and where the fiber stood
 *
 * A sample says that a fiber waited so, and where, at some moment within a short time. It belongs to the only wait of that
 * fiber, for the same and begun no earlier, that lasts at such a moment. Where two do, nobody knows which, and it is of none.
 */
#ifndef INS_SAMPLE_MATCH_H
#define INS_SAMPLE_MATCH_H

#include "inspect/recording/replay.h"

struct ins_sample_match;

/* Plays the recording once, if it has samples. Both are borrowed. -ENOMEM. */
int ins_sample_match_new(const struct ins_recording *recording, struct ins_replay *replay,
			 struct ins_sample_match **ret);
void ins_sample_match_free(struct ins_sample_match *seen); /* NULL: nothing */

/* The stack of that wait, a slice of the same replay; NULL: it was not sampled. */
const char *ins_sample_match_stack(const struct ins_sample_match *seen,
				   const struct ins_slice *slice);

#endif
