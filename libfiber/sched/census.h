/* SPDX-License-Identifier: MIT */
/* census.h - what the carriers do, for the service thread. See census.c. */
#ifndef FIB_SCHED_CENSUS_H
#define FIB_SCHED_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

/*
 * The runtime that started next after the one with this serial (0: the first), and its carriers, of which there are at
 * most FIB_CARRIERS_MAX; false when there is none. Neither allocates nor takes a lock that a fiber needs. Carriers go on
 * meanwhile: each number was true at some moment, but not all at the same.
 */
bool fib_census_next(uint64_t after, struct fib_wire_runtime *ret,
		     struct fib_wire_carrier *ret_carriers);

#endif
