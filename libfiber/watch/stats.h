/* SPDX-License-Identifier: MIT */
/* stats.h - what the carriers do, for the service thread. See stats.c. */
#ifndef FIB_WATCH_STATS_H
#define FIB_WATCH_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

/* So many carriers at a time: each costs a system call, and cache lines that are at another CPU. */
#define FIB_STATS_CARRIERS 32u

/*
 * The runtime that started next after the one with this serial (0: the first), and its carriers from number `first` on;
 * false when there is none. ret->carriers says how many those are, 0 when it has no such number. Neither allocates nor takes
 * a lock that a fiber needs. Carriers go on meanwhile: each number was true at some moment, but not all at the same. By one
 * thread at a time.
 */
bool fib_stats_next(uint64_t after, unsigned first, struct fib_wire_runtime *ret,
		    struct fib_wire_carrier ret_carriers[FIB_STATS_CARRIERS]);

#endif
