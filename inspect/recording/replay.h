/* SPDX-License-Identifier: MIT */
/*
 * replay.h - a recording played again: what each fiber did from when to when
 *
 * Events say what changes; a slice is what lasts between two of them. Every time is within the recording. What a fiber does
 * is said only as long as no event that would change it can have been lost; from there on it is unknown, until the next one that names it.
 */
#ifndef INS_REPLAY_H
#define INS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/recording/fiber_table.h"
#include "inspect/recording/recording.h"

enum ins_doing {
	INS_DOING_UNKNOWN, /* events were lost: it may have done anything, any number of times */
	INS_DOING_RUNNING,
	INS_DOING_RUNNABLE,
	INS_DOING_WAITING,
	INS_DOING_PINNED, /* waits while it holds its carrier: within a slice in which it runs */
	INS_DOING_DEAD,	  /* never a slice's */
};

#define INS_SLICE_BEGAN_EARLIER 1u /* it did so before the recording began */
#define INS_SLICE_GOES_ON	2u /* it still did when the recording ended */
#define INS_SLICE_CUT		4u /* it did so at least until then: what came of it was lost */

#define INS_NO_RING UINT32_MAX

struct ins_slice {
	uint64_t fiber;
	size_t index; /* of the fiber in ins_replay_fibers() */
	enum ins_doing doing;
	uint32_t ring; /* RUNNING, PINNED: whose carrier; INS_NO_RING: not known */
	int64_t from, to;
	uint64_t object; /* WAITING, PINNED */
	uint32_t arg;
	uint8_t kind;
	uint8_t flags; /* INS_SLICE_* */
	uint8_t ways;  /* of a descriptor: FIB_EVENT_READ, FIB_EVENT_WRITE; 0: not known */
};

struct ins_wakeup {
	int64_t ns;
	uint64_t waker; /* fiber, FIB_HOLDER_THREAD | tid, 0: a carrier's timers or poller */
	uint64_t fiber;
	uint32_t ring; /* of the waker */
	bool spawn;    /* it was made */
	bool ended;    /* the waker has: that was the last thing it did */
};

struct ins_replay_ops {
	void (*slice)(void *context, const struct ins_slice *slice);
	void (*wakeup)(void *context, const struct ins_wakeup *wakeup);
	void (*mark)(void *context,
		     const struct ins_recorded *event); /* every event, before what comes of it */
};

struct ins_replay;

/* -ENOMEM. recording is borrowed. */
int ins_replay_new(const struct ins_recording *recording, struct ins_replay **ret);
void ins_replay_free(struct ins_replay *replay);

/* From the beginning to the end; as often as one likes. Slices of one fiber come in their order. ops may be NULL where
 * nobody wants to hear. */
void ins_replay_play(struct ins_replay *replay, const struct ins_replay_ops *ops, void *context);

/* The fibers that occur: a slice's index is one's place among them. */
const struct ins_fiber_table *ins_replay_fibers(const struct ins_replay *replay);

#endif
