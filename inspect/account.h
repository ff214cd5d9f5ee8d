/* SPDX-License-Identifier: MIT */
/* account.h - where the time of a recording went: by what fibers did, waited for, run, and by their stacks. */
#ifndef INS_ACCOUNT_H
#define INS_ACCOUNT_H

#include "inspect/replay.h"

struct ins_spent {
	int64_t running, runnable, waiting,
		pinned; /* ns; pinned: of running, waits that held a carrier */
	uint64_t turns; /* it ran that often */
	uint64_t waits;
	int64_t runnable_most,
		waiting_most; /* the longest one, as far as it lies in the recording */
};

/* What one thing was waited for. */
struct ins_waited {
	uint64_t object;
	uint32_t arg; /* of a descriptor: which */
	uint8_t kind;
	bool pinned;
	uint64_t waits, fibers; /* how often; how many still do, at the end */
	int64_t ns, most;
};

/* Fibers that run the same function. */
struct ins_ran {
	uint64_t entry; /* 0: not known */
	uint64_t fibers;
	struct ins_spent spent;
};

/* Fibers that waited in the same place when the recording ended, and how long they had in that wait. */
struct ins_stood {
	const char *stack;
	uint64_t fibers;
	int64_t ns;
};

struct ins_carried {
	uint32_t ring;
	int64_t running; /* ns; the rest it was idle, or nothing is known */
	uint64_t turns;
};

struct ins_counts {
	uint64_t spawns, exits, wakes, steals, migrations, slow, pinned;
};

struct ins_account {
	int64_t length; /* ns of the recording */
	struct ins_spent all;
	struct ins_counts counts;
	struct ins_spent *fiber; /* of each, as ins_replay_lives() numbers them */
	size_t fibers;
	struct ins_waited *waited; /* the longest first */
	size_t waiteds;
	struct ins_ran *ran; /* who ran longest first */
	size_t rans;
	struct ins_stood *stood; /* the longest first */
	size_t stoods;
	struct ins_carried *carried; /* of each ring but those of everybody else */
	size_t carrieds;
};

/* -ENOMEM. Plays the recording once. */
int ins_account_new(const struct ins_recording *recording, struct ins_replay *replay,
		    struct ins_account **ret);
void ins_account_free(struct ins_account *account); /* NULL: nothing */

#endif
