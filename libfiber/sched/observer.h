/* SPDX-License-Identifier: MIT */
/*
 * observer.h - what carriers say to the service thread
 *
 * The service thread looks at the carriers from above (tick.h). This is the other direction: a carrier sets the coarse
 * clock, and ends the rest of the service thread. It knows the service thread by two words only.
 */
#ifndef FIB_SCHED_OBSERVER_H
#define FIB_SCHED_OBSERVER_H

#include <stdint.h>

struct fib_carrier;

/* c has read the clock, for reasons of its own. By its carrier. */
void fib_observer_clock(struct fib_carrier *c, int64_t now);

/* A carrier has just got up from its sleep. */
void fib_observer_awake(void);

/* Have the next tick come at once: something waits to be printed. */
void fib_observer_hurry(void);

/* How the first carrier that wakes reaches the resting service thread. Async-signal-safe function. */
void fib_observer_set_waker(void (*wake)(void));

/* By the service thread: announce that it rests, before it looks once more whether all sleep, or take that back. */
void fib_observer_announce_rest(void);
void fib_observer_end_rest(void);

#endif
