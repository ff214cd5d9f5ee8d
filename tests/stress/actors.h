/* SPDX-License-Identifier: MIT */
/* actors.h - the actors of a run, as the driver sees them */
#ifndef STRESS_ACTORS_H
#define STRESS_ACTORS_H

#include "tests/stress/stress.h"

/* Start the runtime of a run. Add the actors of the themes after that, then start them. */
void stress_prepare(unsigned carriers, uint64_t seed);
void stress_begin(const struct stress_theme *theme);
void stress_start(void);

/* Call once a tick: an actor that has taken no step for this many ticks, or NULL. */
const struct stress_actor *stress_still(unsigned ticks);

/* Print all actors that have taken no step for this many ticks. */
void stress_tell_still(unsigned ticks);

/* Tell the clients to end. */
void stress_stop(void);
bool stress_all_ended(void);

/* Join all actors, run the themes' checks, stop the runtime. Returns the number of steps taken. */
uint64_t stress_finish(void);

#endif
