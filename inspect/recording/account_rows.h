/* SPDX-License-Identifier: MIT */
/*
 * account_rows.h - what an account of a recording consists of, and sums that do not overflow
 *
 * Filled by account.c and account_waits.c, printed by render/.
 */
#ifndef INS_ACCOUNT_ROWS_H
#define INS_ACCOUNT_ROWS_H

#include "inspect/recording/replay.h"

struct ins_spent {
	int64_t running, runnable, waiting,
		pinned;	 /* ns; pinned: of running, waits that held a carrier */
	int64_t unknown; /* events were lost: it did any of these */
	uint64_t turns;	 /* it ran that often */
	uint64_t waits;
	uint64_t
		cut; /* of all these, those that lasted at least so long: how they ended was lost */
	int64_t runnable_most,
		waiting_most; /* the longest one, as far as it lies in the recording */
};

/* Waits for one thing that has a name; or for things that have none, in the same way and place. */
struct ins_waited {
	uint64_t object; /* the first one */
	uint32_t arg;	 /* of a descriptor: which */
	uint8_t kind;
	uint8_t ways; /* of descriptors: FIB_EVENT_READ, FIB_EVENT_WRITE; 0: not known */
	bool pinned, named;
	const char *stack;	/* the place; NULL: not looked at, or the row has a name */
	uint64_t objects;	/* how many things; 0: nobody else can wait for such a one */
	uint64_t waits, fibers; /* how often; how many still do, at the end */
	uint64_t cut;		/* of the waits: they lasted at least so long */
	int64_t ns, median, most;
	int64_t sampled; /* of ns: waits of which there is a stack */
};

/* Fibers that run the same function. */
struct ins_ran {
	uint64_t entry; /* 0: not known */
	uint64_t fibers;
	struct ins_spent spent;
};

/* Waits in the same place, of those that were looked at. */
struct ins_stack_waits {
	const char *stack;
	uint64_t fibers, waits, at_end, cut;
	int64_t ns, most;
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
	struct ins_spent *fiber; /* of each, as ins_replay_fibers() numbers them */
	size_t fibers;
	struct ins_waited *waited; /* the longest first */
	size_t waiteds;
	struct ins_ran *ran; /* who ran longest first */
	size_t rans;
	struct ins_stack_waits *stack_waits; /* the longest first */
	size_t stack_waits_count;
	int64_t sampled;	     /* of all.waiting: these; the rest nobody looked at */
	uint64_t sampled_waits;	     /* of all.waits */
	struct ins_carried *carried; /* of each ring but those of everybody else */
	size_t carrieds;
};

/* A damaged file may say that anything took for ever, and that often: no sum overflows. */
void ins_add_ns(int64_t *to, int64_t ns);
int64_t ins_slice_length(const struct ins_slice *slice);

#endif
