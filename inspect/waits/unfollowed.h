/* SPDX-License-Identifier: MIT */
/*
 * unfollowed.h - waits that may be part of a deadlock, but whose holder is not known
 *
 * A semaphore, a channel and the like do not record which fiber will end the wait. Of a lock that is
 * held for reading no reader may be known. "No deadlock" says nothing about these waits, so they are counted next to it.
 * A wait with a deadline is not counted, nor one for time, a descriptor, a thread of fiber_block()
 * or the kernel: time or something outside of the program ends it.
 */
#ifndef INS_UNFOLLOWED_H
#define INS_UNFOLLOWED_H

#include "inspect/waits/graph.h"

struct ins_unfollowed {
	uint64_t count[UINT8_MAX + 1]; /* by kind of wait */
};

bool ins_unfollowed_is(const struct ins_node *node);

void ins_unfollowed_count(const struct ins_graph *graph, struct ins_unfollowed *ret);

#endif
