/* SPDX-License-Identifier: MIT */
/*
 * counters.h - what a carrier has done so far. See counters.c.
 */
#ifndef FIB_SCHED_COUNTERS_H
#define FIB_SCHED_COUNTERS_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

struct fib_carrier;

/* How long fibers stood in line: number 0 up to 1 ms, number n up to 2^n ms, the last one longer than that. */
#define FIB_COUNTERS_DELAYS 16u

/* C its carrier writes, any thread reads · S the reader's, of which there is one at a time */
struct fib_counters {
	_Atomic uint64_t given;	   /* C: turns given to fibers (counters.given) */
	uint64_t unused;	   /* C: of these, turns that nobody has taken (counters.unused) */
	_Atomic uint64_t steals;   /* C: times that it found something at others' */
	_Atomic uint64_t wakeups;  /* C: sleeps that it got up from */
	_Atomic uint64_t polls;	   /* C: looks into the poller */
	_Atomic uint64_t timeouts; /* C: waits that it ended by their deadline */
	_Atomic uint64_t delayed;  /* C: ns that fibers stood in line, in all */
	_Atomic uint64_t delays[FIB_COUNTERS_DELAYS]; /* C: how often how long; not number 0 */
	uint64_t switches_seen;			      /* S */
	uint64_t prompt_seen;			      /* S */
};

/* The counts of a moment. None of them goes back, as long as the carrier lives. */
struct fib_counts {
	uint64_t switches; /* times that a fiber was left */
	uint64_t steals, wakeups, polls, timeouts;
	uint64_t delayed;		      /* ns */
	uint64_t delays[FIB_COUNTERS_DELAYS]; /* together at least `switches` */
};

/* One more. By the carrier. */
static inline void fib_counters_raise(_Atomic uint64_t *count, uint64_t by)
{
	fib_store(count, fib_load(count) + by);
}

/* A fiber begins to run after it stood in line for ns > 0, in steps of the coarse clock. By the carrier. */
void fib_counters_delay(struct fib_counters *counters, int64_t ns);

/* From now on so many fibers run before the carrier looks outside. By the carrier, in its idle context. */
void fib_counters_give(struct fib_carrier *c);

/* It looks outside after the next one. By the carrier. */
void fib_counters_last(struct fib_carrier *c);

/* What c has done so far. By one thread at a time; c goes on meanwhile. */
void fib_counters_read(struct fib_carrier *c, struct fib_counts *ret);

#endif
