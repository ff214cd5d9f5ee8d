/* SPDX-License-Identifier: MIT */
/* walk.h - go through the registry in pieces */
#ifndef FIB_SERVICE_WALK_H
#define FIB_SERVICE_WALK_H

#include "service/peer.h"

/* Start at the first record. id: the fiber to look for; 0: all. */
void fib_walk_begin(struct fib_cursor *cursor, uint64_t id);

/* The limit of one piece of an answer. */
struct fib_walk_budget {
	unsigned fibers;  /* to sample: some us of system calls each */
	unsigned records; /* to look at: a load each */
};
/*
 * For a registry that is in no cache: some 5 us, and 40 us if each record is on a page not touched
 * yet.
 */
#define FIB_WALK_RECORDS 256
#define FIB_WALK_BUDGET                                  \
	{                                                \
		.fibers = 4, .records = FIB_WALK_RECORDS \
	}

/*
 * Go to the next fiber that is looked for, counting all fibers that are passed. True and
 * *ret_index; false: the budget is spent or there are no more (fib_walk_done()).
 */
bool fib_walk_next(struct fib_cursor *cursor, struct fib_walk_budget *budget, uint64_t *ret_index);
bool fib_walk_done(const struct fib_cursor *cursor);

/* The size of a row if only `wanted` (FIB_WIRE_WANT_*) is sent. */
uint32_t fib_walk_row_size(uint32_t wanted);

/*
 * Append one ROWS frame as far as a budget allows. True: the walk is done and the cursor's `end`
 * complete.
 */
bool fib_walk_rows(struct fib_peer *peer, int64_t now);

/* The walk is done: store how long it took. */
void fib_walk_finish(struct fib_cursor *cursor);

#endif
