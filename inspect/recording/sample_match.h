/* SPDX-License-Identifier: MIT */
/*
 * sample_match.h - find the waits of a recording that were sampled, and their stacks
 *
 * A sample says that a fiber was in a wait, and where, at some moment within a short time. It
 * belongs to the only wait of that fiber at such a moment that is for the same object and starts no
 * earlier. If two waits match, it is unknown which one was sampled, so the sample is not used.
 */
#ifndef INS_SAMPLE_MATCH_H
#define INS_SAMPLE_MATCH_H

#include "inspect/recording/replay.h"

struct ins_sample_match;

/* Replays the recording once, if it has samples. Both are borrowed. -ENOMEM. */
int ins_sample_match_new(const struct ins_recording *recording, struct ins_replay *replay,
			 struct ins_sample_match **ret);
void ins_sample_match_free(struct ins_sample_match *seen); /* NULL: no effect */

/* The stack of that wait, a slice of the same replay; NULL: not sampled. */
const char *ins_sample_match_stack(const struct ins_sample_match *seen,
				   const struct ins_slice *slice);

#endif
