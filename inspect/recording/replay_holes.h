/* SPDX-License-Identifier: MIT */
/* replay_holes.h - what lost events leave open. */
#ifndef INS_REPLAY_HOLES_H
#define INS_REPLAY_HOLES_H

#include "inspect/recording/replay_state.h"

/* -ENOMEM. */
int ins_holes_new(struct ins_replay *p);
void ins_holes_free(struct ins_replay *p);

/* As before the first event, when all are. */
void ins_holes_rewind(struct ins_replay *p);

/* l does something else than before. */
void ins_holes_open(struct ins_replay *p, struct ins_does *l);

/* What happens on t's carrier from now on until `then` was lost. Holes come in order of time. */
void ins_holes_take(struct ins_replay *p, struct ins_track *t, int64_t now, int64_t then);

/* An event says what l, NULL: nobody, was left in; while another ring's are lost that may be over at once. */
void ins_holes_doubt(struct ins_replay *p, struct ins_does *l, int64_t now);

/* What was seen of l before `then` that says that it did something else, though no event does; and until when it is known to have done
 * what it did. NULL: nothing. */
const struct ins_recording_sample *ins_holes_dispute(const struct ins_replay *p,
						     const struct ins_does *l, int64_t then,
						     int64_t *ret_until);

/* The recording ends, and nothing is known of l. */
void ins_holes_finish_unknown(struct ins_replay *p, const struct ins_does *l);

#endif
