/* SPDX-License-Identifier: MIT */
/*
 * turn.c - make a fiber that takes locks without waiting yield now and then
 *
 * A free lock is taken without a wait. A loop that only locks and unlocks would therefore keep its
 * carrier for ever. So each carrier counts the locks that its fibers ask for. At every 1,024th
 * (turn.h) it checks whether the fiber's sequence number, which moves at every switch, is the same
 * as at the check before. So a fiber yields in a lock only after it has asked for 1,024 to 2,047
 * locks without a switch.
 *
 * The yield comes before the lock is taken, so the lock is not held across it. A pinned fiber does
 * not yield. A yield returns no error; a cancelled fiber still gets its lock.
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
