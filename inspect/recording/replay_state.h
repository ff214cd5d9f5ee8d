/* SPDX-License-Identifier: MIT */
/*
 * replay_state.h - what a replay knows of each fiber; replay.c takes events, replay_holes.c handles
 * lost ones
 */
#ifndef INS_REPLAY_STATE_H
#define INS_REPLAY_STATE_H

#include "inspect/recording/fiber_table.h"
#include "inspect/recording/replay.h"
#include "layout/layout.h"

/* What a fiber does. */
struct ins_does {
	const struct ins_fiber_table_entry *life;
	enum ins_doing doing;
	bool woken;   /* woken while it is about to wait */
	bool touched; /* an event has set its current state */
	bool earlier; /* its current state started before the recording */
	bool open;    /* in the array of open fibers */
	bool listed;  /* in the list of its track */
	uint8_t kind, ways;
	uint32_t arg, ring;
	uint64_t object;
	int64_t since;
	int64_t lost_at, found_at; /* UNKNOWN since a hole that ended then; 0: for other reasons */
	struct ins_slice pinned;   /* from 0: not pinned */
	struct ins_does *next;	   /* in that list */
};

struct ins_track {
	struct ins_does *runs;	/* NULL: none, or unknown */
	struct ins_does *first; /* runs there according to the list, until the first RUN */
	bool ended;		/* `runs` has exited */
	struct ins_does *list;	/* fibers that run there according to the list of fibers, without
				 * an event yet */
};

/* A time at which a fiber's state was read. */
struct ins_sighting {
	int64_t at;
	size_t index; /* of the fiber */
};

struct ins_replay {
	const struct ins_recording *recording;
	struct ins_fiber_table fiber_table;
	struct ins_does *doing;
	struct ins_track *track;
	uint32_t *ring; /* by carrier index; INS_NO_RING: none, or several */
	uint32_t carriers;
	const struct ins_replay_ops *ops;
	void *context;
	/* The state of holes (replay_holes.c). */
	int64_t blind_until;	/* the latest end of a hole that has started */
	struct ins_does **open; /* the fibers that the next hole has to check */
	size_t opens;
	struct ins_sighting *sighting; /* in order of time */
	size_t sightings, passed;
};

/* Emit a slice of l. */
void ins_replay_emit(struct ins_replay *p, const struct ins_does *l, enum ins_doing doing,
		     int64_t from, int64_t to, unsigned flags);

enum ins_doing ins_doing_of(const struct fib_recording_fiber *fiber);

/* Get the ways of a descriptor's wait from poll(2)'s bits. */
uint8_t ins_replay_ways(uint64_t wait_arg);

/*
 * The first event of l, at `now`, implies what it did before: take the start and details from the
 * list of fibers.
 */
void ins_replay_recall(struct ins_replay *p, struct ins_does *l, enum ins_doing doing, int64_t now);

#endif
