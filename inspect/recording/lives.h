/* SPDX-License-Identifier: MIT */
/* lives.h - the fibers that occur in a recording. */
#ifndef INS_LIVES_H
#define INS_LIVES_H

#include "inspect/recording/recording.h"

struct ins_life {
	uint64_t id;
	uint64_t entry; /* the function that it runs, 0: not known */
	const struct ins_recording_fiber *first,
		*last; /* in the lists at begin and end; NULL: not there */
};

struct ins_lives {
	struct ins_life *at; /* by ascending id */
	size_t count;
};

/* -ENOMEM. The recording is borrowed. */
int ins_lives_make(const struct ins_recording *recording, struct ins_lives *ret);
void ins_lives_free(struct ins_lives *lives);

/* NULL: no such fiber. */
struct ins_life *ins_lives_find(const struct ins_lives *lives, uint64_t id);

#endif
