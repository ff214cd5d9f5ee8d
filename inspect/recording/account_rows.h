/* SPDX-License-Identifier: MIT */
/*
 * account_rows.h - the rows of an account of a recording, and sums that do not overflow
 *
 * Filled by account.c and account_waits.c, printed by render/.
 */
#ifndef INS_ACCOUNT_ROWS_H
#define INS_ACCOUNT_ROWS_H

#include "inspect/recording/replay.h"

struct ins_spent {
	int64_t running, runnable, waiting,
		pinned;	 /* ns; pinned: the part of running in waits that held a carrier */
	int64_t unknown; /* events were lost: it did any of the others */
	uint64_t turns;	 /* how often it ran */
	uint64_t waits;
	uint64_t cut; /* of all these, those that lasted at least so long: their end was lost */
	int64_t runnable_most,
		waiting_most; /* the longest wait, as far as it is within the recording */
};

/*
 * Waits for one named object; or for objects without a name, of the same kind and in the same
 * place.
 */
struct ins_waited {
	uint64_t object; /* the first one */
	uint32_t arg;	 /* of a descriptor: its number */
	uint8_t kind;
	uint8_t ways; /* of descriptors: FIB_EVENT_READ, FIB_EVENT_WRITE; 0: unknown */
	bool pinned, named;
	const char *stack;	/* the place; NULL: not sampled, or the row has a name */
	uint64_t objects;	/* how many; 0: each is of one fiber only */
	uint64_t waits, fibers; /* how many; how many last beyond the end */
	uint64_t cut;		/* of the waits, those that lasted at least so long */
	int64_t ns, median, most;
	int64_t sampled; /* the part of ns in waits with a stack */
};

/* Fibers that run the same function. */
struct ins_ran {
	uint64_t entry; /* 0: unknown */
	uint64_t fibers;
	struct ins_spent spent;
};

/* Waits in the same place, of those that were sampled. */
struct ins_stack_waits {
	const char *stack;
	uint64_t fibers, waits, at_end, cut;
	int64_t ns, most;
};

struct ins_carried {
	uint32_t ring;
	int64_t running; /* ns; for the rest it was idle or unknown */
	uint64_t turns;
};

struct ins_counts {
	uint64_t spawns, exits, wakes, steals, migrations, slow, pinned;
};

struct ins_account {
	int64_t length; /* ns of the recording */
	struct ins_spent all;
	struct ins_counts counts;
	struct ins_spent *fiber; /* one each, numbered as in ins_replay_fibers() */
	size_t fibers;
	struct ins_waited *waited; /* the longest first */
	size_t waiteds;
	struct ins_ran *ran; /* the longest first */
	size_t rans;
	struct ins_stack_waits *stack_waits; /* the longest first */
	size_t stack_waits_count;
	int64_t sampled;	     /* the part of all.waiting that was sampled */
	uint64_t sampled_waits;	     /* the part of all.waits */
	struct ins_carried *carried; /* one for each ring of a carrier */
	size_t carrieds;
};

/* A damaged file may contain any times and counts, so sums saturate. */
void ins_add_ns(int64_t *to, int64_t ns);
int64_t ins_slice_length(const struct ins_slice *slice);

#endif
