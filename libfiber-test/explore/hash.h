/* SPDX-License-Identifier: MIT */
/* hash.h - a number that tells whether two explorations made the same choices */
#ifndef FIB_TEST_HASH_H
#define FIB_TEST_HASH_H

#include <stdint.h>

#include "explore/explorer.h"

/*
 * Add a choice to the hash of those before it: its kind and alternatives, of fibers their numbers and
 * what each is about to call, and what was chosen. Addresses are left out. intents: by number.
 */
uint64_t fib_hash_choice(uint64_t hash, const struct fib_choice *choice, unsigned chosen,
			 const struct fib_intent *intents);

/* What a schedule adds to the sum of all schedules, which may be run in any order. */
uint64_t fib_hash_schedule(uint64_t hash, uint64_t number);

#endif
