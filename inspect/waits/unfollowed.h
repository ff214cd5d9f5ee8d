/* SPDX-License-Identifier: MIT */
/*
 * unfollowed.h - waits that could be part of a deadlock, but whose holder no reader knows
 *
 * A lock that is held for reading, a semaphore, a channel and the like do not say which fiber will end the wait. So "no deadlock"
 * says nothing about these, and they are counted beside it. A wait that has a deadline, and one for time, a descriptor, a thread of
 * fiber_block() or the kernel is not among them: time or the outside ends it.
 */
#ifndef INS_UNFOLLOWED_H
#define INS_UNFOLLOWED_H

#include "inspect/waits/graph.h"

struct ins_unfollowed {
	uint64_t count[UINT8_MAX + 1]; /* by kind of wait */
};

/* Whether it is one. */
bool ins_unfollowed_is(const struct ins_node *node);

void ins_unfollowed_count(const struct ins_graph *graph, struct ins_unfollowed *ret);

#endif
