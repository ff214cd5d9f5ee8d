/* SPDX-License-Identifier: MIT */
/* tally.h - count the fibers in each state. See tally.c. */
#ifndef FIB_SERVICE_TALLY_H
#define FIB_SERVICE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

/*
 * Count the fibers among records [index, index + n), which exist, into ret->fibers, ->states and
 * ->waits. Each fiber counts in one state, with the wait that belongs to that state. Any thread;
 * takes no lock.
 */
void fib_tally(uint64_t index, uint64_t n, struct fib_wire_counters *ret);

#endif
