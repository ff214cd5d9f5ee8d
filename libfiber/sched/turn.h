/* SPDX-License-Identifier: MIT */
/* turn.h - a fiber that takes locks without waiting still ends its turn. See turn.c. */
#ifndef FIB_SCHED_TURN_H
#define FIB_SCHED_TURN_H

/* How many locks are taken on a carrier between two looks at its fiber's turn. */
#define FIB_TURN_LOCKS 1024u

struct fib_carrier;
struct fiber;

/* Yield where fiber, c's current one, has held its carrier since the last look. The caller holds nothing of the
 * library; it may go on as another carrier. */
void fib_turn_look(struct fib_carrier *c, struct fiber *fiber);

/* Count a lock that the calling fiber is about to take on c, and look when it is time. */
#define fib_turn_count(c, fiber)                            \
	do {                                                \
		if (fib_unlikely((fiber) && !--(c)->locks)) \
			fib_turn_look(c, fiber);            \
	} while (0)

#endif
