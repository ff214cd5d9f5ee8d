/* SPDX-License-Identifier: MIT */
/* actors.h - the actors of a run, as the driver sees them. */
#ifndef STRESS_ACTORS_H
#define STRESS_ACTORS_H

#include "tests/stress/stress.h"

/* Start the runtime of a run. Then add the actors of its themes, then start them. */
void stress_prepare(unsigned carriers, uint64_t seed);
void stress_begin(const struct stress_theme *theme);
void stress_start(void);

/* Once a tick: somebody who has taken no step for so many ticks, or NULL. */
const struct stress_actor *stress_still(unsigned ticks);

/* Print everybody who has taken no step for so many ticks. */
void stress_tell_still(unsigned ticks);

/* The clients are to end. */
void stress_stop(void);
bool stress_all_ended(void);

/* Join everybody, check what was promised, stop the runtime. How many steps were taken. */
uint64_t stress_finish(void);

#endif
