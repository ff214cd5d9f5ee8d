/* SPDX-License-Identifier: MIT */
/* walk.h - going through the registry in pieces. */
#ifndef FIB_SERVICE_WALK_H
#define FIB_SERVICE_WALK_H

#include "service/peer.h"

/* Start at the first record, looking for the fiber with that id; 0: for all. */
void fib_walk_begin(struct fib_cursor *cursor, uint64_t id);

/* How much one piece of an answer may cost, counted in records looked at. */
struct fib_walk_budget {
	unsigned fibers;  /* sampled, some us of system calls each */
	unsigned records; /* looked at: a load each */
};
/* Of a registry that is in no cache some 5 us, and 40 where each is on a page that nobody has touched yet. */
#define FIB_WALK_RECORDS 256
#define FIB_WALK_BUDGET                                  \
	{                                                \
		.fibers = 4, .records = FIB_WALK_RECORDS \
	}

/*
 * Go to the next fiber that is looked for and count all that are passed. True and *ret_index, or false when the
 * budget is spent or there is none (fib_walk_done()).
 */
bool fib_walk_next(struct fib_cursor *cursor, struct fib_walk_budget *budget, uint64_t *ret_index);
bool fib_walk_done(const struct fib_cursor *cursor);

/* The bytes of a row that are sent when no more than `wanted` (FIB_WIRE_WANT_*) is. */
uint32_t fib_walk_row_size(uint32_t wanted);

/* Append one ROWS frame with what a budget allows. True when the walk is done; the cursor's end is then
 * complete. */
bool fib_walk_rows(struct fib_peer *peer, int64_t now);

/* The walk is done: say how long it took. */
void fib_walk_finish(struct fib_cursor *cursor);

#endif
