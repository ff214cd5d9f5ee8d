/* SPDX-License-Identifier: MIT */
/* replay_state.h - what a replay knows of each fiber; replay.c takes events, replay_holes.c what their lack leaves open. */
#ifndef INS_REPLAY_STATE_H
#define INS_REPLAY_STATE_H

#include "inspect/recording/fiber_table.h"
#include "inspect/recording/replay.h"
#include "layout/layout.h"

/* What a fiber does. */
struct ins_does {
	const struct ins_fiber_table_entry *life;
	enum ins_doing doing;
	bool woken;   /* while it is about to leave */
	bool touched; /* what it does now, an event has said */
	bool earlier; /* what it does began before the recording */
	bool open;    /* it is among the open ones */
	bool listed;  /* it is in the list of its track */
	uint8_t kind, ways;
	uint32_t arg, ring;
	uint64_t object;
	int64_t since;
	int64_t lost_at,
		found_at;	 /* UNKNOWN since a hole, which ended then; 0: for other reasons */
	struct ins_slice pinned; /* from 0: it is not */
	struct ins_does *next;	 /* in that list */
};

struct ins_track {
	struct ins_does *runs;	/* NULL: nobody, or not known */
	struct ins_does *first; /* who runs there as the list of fibers says, until its first RUN */
	bool ended;		/* that one has */
	struct ins_does *list;	/* who runs there as the list of fibers says, and no event yet */
};

/* Somebody looked at a fiber, and saw what it does. */
struct ins_sighting {
	int64_t at;
	size_t index; /* of the fiber */
};

struct ins_replay {
	const struct ins_recording *recording;
	struct ins_fiber_table fiber_table;
	struct ins_does *doing;
	struct ins_track *track;
	uint32_t *ring; /* of a carrier's index; INS_NO_RING: none, or several */
	uint32_t carriers;
	const struct ins_replay_ops *ops;
	void *context;
	/* What holes are (replay_holes.c). */
	int64_t blind_until;	/* the latest end of one that has begun */
	struct ins_does **open; /* those that the next one has to look at */
	size_t opens;
	struct ins_sighting *sighting; /* in order of time */
	size_t sightings, passed;
};

/* What l did from when to when. */
void ins_replay_emit(struct ins_replay *p, const struct ins_does *l, enum ins_doing doing,
		     int64_t from, int64_t to, unsigned flags);

enum ins_doing ins_doing_of(const struct ins_recording_fiber *fiber);

/* The ways of a descriptor's wait, out of poll(2)'s bits. */
uint8_t ins_replay_ways(uint64_t wait_arg);

/* Its first event, at `now`, says that it did that before: what does the list say? */
void ins_replay_recall(struct ins_replay *p, struct ins_does *l, enum ins_doing doing, int64_t now);

#endif
