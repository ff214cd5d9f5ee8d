/* SPDX-License-Identifier: MIT */
/* stats.h - read the carriers' counters, for the service thread; see stats.c */
#ifndef FIB_WATCH_STATS_H
#define FIB_WATCH_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

/* Carriers per call: each costs a system call, and cache lines that another CPU owns. */
#define FIB_STATS_CARRIERS 32u

/*
 * Describe the runtime that started next after the one with this serial (0: the first), and its
 * carriers from number `first` on. False when there is none. ret->carriers says how many carriers,
 * 0 if there is none with that number. Neither allocates nor takes a lock that a fiber needs.
 * Carriers continue meanwhile: each number was true at some moment, but not all at the same. By one
 * thread at a time.
 */
bool fib_stats_next(uint64_t after, unsigned first, struct fib_wire_runtime *ret,
		    struct fib_wire_carrier ret_carriers[FIB_STATS_CARRIERS]);

#endif
