/* SPDX-License-Identifier: MIT */
/* priorities.h - a number for each fiber of a schedule, drawn when it is first seen */
#ifndef FIB_TEST_PRIORITIES_H
#define FIB_TEST_PRIORITIES_H

#include <stdint.h>

#include "explore/explorer.h"

/* Forget all priorities; later ones are drawn from a generator with this seed. */
void fib_priorities_begin(uint64_t seed);
uint64_t fib_priority(uint32_t number);
void fib_priority_set(uint32_t number, uint64_t priority);
uint64_t fib_priority_draw(void);

/* The index of the highest priority among the fibers of a choice. */
unsigned fib_priorities_highest(const struct fib_choice *choice);

#endif
