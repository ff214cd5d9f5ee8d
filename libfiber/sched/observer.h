/* SPDX-License-Identifier: MIT */
/*
 * observer.h - what carriers report to the service thread
 *
 * The service thread looks at the carriers from above (tick.h). This is the other direction: a
 * carrier sets the coarse clock and ends the rest of the service thread. It knows only two words of
 * the service thread.
 */
#ifndef FIB_SCHED_OBSERVER_H
#define FIB_SCHED_OBSERVER_H

#include <stdint.h>

struct fib_carrier;

/* c has read the clock for its own purposes. By its carrier. */
void fib_observer_clock(struct fib_carrier *c, int64_t now);

/* A carrier has just woken. */
void fib_observer_awake(void);

/* Make the next tick come at once: there is something to print. */
void fib_observer_hurry(void);

/*
 * Set the function by which the first carrier that wakes ends the rest. It must be
 * async-signal-safe.
 */
void fib_observer_set_waker(void (*wake)(void));

/*
 * By the service thread: announce the rest, before a last look whether all sleep; or take it back.
 */
void fib_observer_announce_rest(void);
void fib_observer_end_rest(void);

#endif
