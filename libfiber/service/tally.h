/* SPDX-License-Identifier: MIT */
/* tally.h - how many fibers are in which state. See tally.c. */
#ifndef FIB_SERVICE_TALLY_H
#define FIB_SERVICE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

/* Count the fibers among n records of the registry from index on, which exist, into ret->fibers, ->states and ->waits.
 * Each fiber is in one state; what it waits for belongs to that state. By any thread; takes no lock. */
void fib_tally(uint64_t index, uint64_t n, struct fib_wire_counters *ret);

#endif
