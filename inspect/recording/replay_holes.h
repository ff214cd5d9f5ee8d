/* SPDX-License-Identifier: MIT */
/* replay_holes.h - what is still known where events were lost */
#ifndef INS_REPLAY_HOLES_H
#define INS_REPLAY_HOLES_H

#include "inspect/recording/replay_state.h"

/* -ENOMEM. */
int ins_holes_new(struct ins_replay *p);
void ins_holes_free(struct ins_replay *p);

/* Reset to the state before the first event: all fibers are open. */
void ins_holes_rewind(struct ins_replay *p);

/* Note that l does something else than before. */
void ins_holes_open(struct ins_replay *p, struct ins_does *l);

/*
 * Start a hole: the events of t's carrier from now until `then` were lost. Holes come in order of
 * time.
 */
void ins_holes_take(struct ins_replay *p, struct ins_track *t, int64_t now, int64_t then);

/*
 * An event gives the state of l (NULL: no fiber). If another ring's events are lost at that time,
 * the state may have changed at once: make l unknown unless a sample confirms it.
 */
void ins_holes_doubt(struct ins_replay *p, struct ins_does *l, int64_t now);

/*
 * Find a sample before `then` that shows l in another wait although no event does; *ret_until is
 * the time until which l certainly did the old one. NULL: none.
 */
const struct fib_recording_sample *ins_holes_dispute(const struct ins_replay *p,
						     const struct ins_does *l, int64_t then,
						     int64_t *ret_until);

/* Emit the last slice of l, which is unknown at the end of the recording. */
void ins_holes_finish_unknown(struct ins_replay *p, const struct ins_does *l);

#endif
