/* SPDX-License-Identifier: MIT */
/*
 * turn.c - a fiber that takes locks without waiting still ends its turn
 *
 * A lock that is free is taken without a wait. A loop that only locks and unlocks would therefore keep its
 * carrier for ever. So each carrier counts the locks that its fibers ask for, and looks at every 1,024th (turn.h)
 * whether the fiber is in the same turn as at the look before: its sequence number moves at every switch. A fiber
 * yields in a lock only after it has asked for 1,024 locks, at most 2,047, within one turn.
 *
 * The yield comes before the lock is taken, so the lock is not held across it. A pinned fiber does not yield. A yield
 * returns no error; a cancelled fiber gets its lock as ever.
 */
#include "sched/turn.h"

#include <stdbool.h>

#include "base/atomic.h"
#include "core/record.h"
#include "sched/sched.h"

void fib_turn_look(struct fib_carrier *c, struct fiber *fiber)
{
	const uint64_t seq = fib_load(&fiber->seq);
	const bool same = c->turn_of == fiber->id && c->turn_seq == seq;

	c->locks = FIB_TURN_LOCKS;
	c->turn_of = fiber->id;
	c->turn_seq = seq;
	if (same && !fiber->pins)
		fib_yield(c, fiber);
}
