/* SPDX-License-Identifier: MIT */
/* waiters.h - which fiber a wait depends on, and which fibers wait for a given one */
#ifndef INS_WAITERS_H
#define INS_WAITERS_H

#include "inspect/text/sample.h"
#include "inspect/waits/graph.h"

/*
 * The fiber that has to act before this one can go on: the holder of the object, or the fiber that
 * is joined. 0: none or unknown.
 */
uint64_t ins_wait_cause(const struct fib_row *row);

/* Fibers that wait for one fiber: they join it, or wait for something that it holds, or to read
 * something that it waits to write. */
struct ins_waiters {
	uint64_t joining, wanting;
	struct ins_sample ids; /* the lowest ids */
};
void ins_waiters_find(const struct ins_graph *graph, uint64_t id, struct ins_waiters *ret);

#endif
