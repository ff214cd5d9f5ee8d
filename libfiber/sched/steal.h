/* SPDX-License-Identifier: MIT */
/* steal.h - take runnable fibers from other carriers; see steal.c for the rule */
#ifndef FIB_SCHED_STEAL_H
#define FIB_SCHED_STEAL_H

#include <stdbool.h>
#include <stdint.h>

struct fiber;
struct fib_carrier;

/* What a thief saw of another carrier when it last looked. */
struct fib_sight {
	uint32_t head;	/* of the run queue */
	unsigned picks; /* fibers left to run before it looks outside */
};

/* Start a search: a first look at all other carriers, which takes nothing. */
void fib_steal_begin(struct fib_carrier *c);

/*
 * Look once at each other carrier and take fibers from the first one that has some to take. patient:
 * also a fiber that was woken last. rested: c has slept since its last look. Returns the fiber to
 * run, or NULL; *ret_looked: whether there was a carrier to look at.
 */
struct fiber *fib_steal(struct fib_carrier *c, bool patient, bool rested, bool *ret_looked);

#endif
