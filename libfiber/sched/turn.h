/* SPDX-License-Identifier: MIT */
/* turn.h - make a fiber that takes locks without waiting yield now and then; see turn.c */
#ifndef FIB_SCHED_TURN_H
#define FIB_SCHED_TURN_H

/* How many locks are taken on a carrier between two checks. */
#define FIB_TURN_LOCKS 1024u

struct fib_carrier;
struct fiber;

/*
 * Yield if fiber, c's current one, has not switched since the last check. The caller holds nothing
 * of the library. The fiber may continue on another carrier.
 */
void fib_turn_look(struct fib_carrier *c, struct fiber *fiber);

/* Count a lock that the calling fiber is about to take on c, and check when it is time. */
#define fib_turn_count(c, fiber)                            \
	do {                                                \
		if (fib_unlikely((fiber) && !--(c)->locks)) \
			fib_turn_look(c, fiber);            \
	} while (0)

#endif
