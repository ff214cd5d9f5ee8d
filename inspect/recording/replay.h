/* SPDX-License-Identifier: MIT */
/*
 * replay.h - replay a recording: what each fiber did from when to when
 *
 * An event is a change; a slice is the time between two changes. All times are within the
 * recording. A fiber's state is known only as long as no event that would change it can have been
 * lost. After that it is unknown until the next event that names the fiber.
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
	INS_DOING_DEAD,	  /* never in a slice */
};

#define INS_SLICE_BEGAN_EARLIER 1u /* it started before the recording */
#define INS_SLICE_GOES_ON	2u /* it lasted beyond the end of the recording */
#define INS_SLICE_CUT		4u /* it lasted at least until then: its end was lost */

#define INS_NO_RING UINT32_MAX

struct ins_slice {
	uint64_t fiber;
	size_t index; /* of the fiber in ins_replay_fibers() */
	enum ins_doing doing;
	uint32_t ring; /* RUNNING, PINNED: its carrier's ring; INS_NO_RING: unknown */
	int64_t from, to;
	uint64_t object; /* WAITING, PINNED */
	uint32_t arg;
	uint8_t kind;
	uint8_t flags; /* INS_SLICE_* */
	uint8_t ways;  /* of a descriptor: FIB_EVENT_READ, FIB_EVENT_WRITE; 0: unknown */
};

struct ins_wakeup {
	int64_t ns;
	uint64_t waker; /* fiber, FIB_HOLDER_THREAD | tid, 0: a carrier's timers or poller */
	uint64_t fiber;
	uint32_t ring; /* of the waker */
	bool spawn;    /* the fiber was spawned */
	bool ended;    /* the waker has exited: this was its last action */
};

struct ins_replay_ops {
	void (*slice)(void *context, const struct ins_slice *slice);
	void (*wakeup)(void *context, const struct ins_wakeup *wakeup);
	void (*mark)(void *context,
		     const struct ins_recorded *event); /* every event, before its consequences */
};

struct ins_replay;

/* recording is borrowed. -ENOMEM. */
int ins_replay_new(const struct ins_recording *recording, struct ins_replay **ret);
void ins_replay_free(struct ins_replay *replay);

/*
 * Replay from the start to the end; may be repeated. The slices of one fiber come in order.
 * Callbacks in ops may be NULL.
 */
void ins_replay_play(struct ins_replay *replay, const struct ins_replay_ops *ops, void *context);

/* The fibers that occur: the index of a slice is an index into them. */
const struct ins_fiber_table *ins_replay_fibers(const struct ins_replay *replay);

#endif
