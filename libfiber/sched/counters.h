/* SPDX-License-Identifier: MIT */
/*
 * counters.h - per-carrier counts; see counters.c
 */
#ifndef FIB_SCHED_COUNTERS_H
#define FIB_SCHED_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

struct fib_carrier;

/*
 * Delays in the queue: entry 0 is up to 1 ms, entry n up to 2^n ms, the last one all longer delays.
 */
#define FIB_COUNTERS_DELAYS 16u

/* C its carrier writes, any thread reads · S the reader's; there is one reader at a time */
struct fib_counters {
	_Atomic uint64_t given;	   /* C: turns given to fibers (counters.given) */
	uint64_t unused;	   /* C: turns given but not used (counters.unused) */
	_Atomic uint64_t steals;   /* C: times that it stole a fiber */
	_Atomic uint64_t wakeups;  /* C: sleeps that have ended */
	_Atomic uint64_t polls;	   /* C: polls of the poller */
	_Atomic uint64_t timeouts; /* C: waits that it ended because of their deadline */
	_Atomic uint64_t delayed;  /* C: total ns that fibers were queued */
	_Atomic uint64_t
		delays[FIB_COUNTERS_DELAYS]; /* C: histogram of the delays; entry 0 is not used */
	uint64_t switches_seen;		     /* S */
	uint64_t prompt_seen;		     /* S */
};

/* One reading of the counts. None of them ever decreases while the carrier lives. */
struct fib_counts {
	uint64_t switches; /* times that a fiber was left */
	uint64_t steals, wakeups, polls, timeouts;
	uint64_t delayed;		      /* ns */
	uint64_t delays[FIB_COUNTERS_DELAYS]; /* their sum is at least `switches` */
};

/* Add to a count. By the carrier. */
static inline void fib_counters_raise(_Atomic uint64_t *count, uint64_t by)
{
	fib_store(count, fib_load(count) + by);
}

/*
 * Count that a fiber starts to run after ns > 0 in the queue, by the coarse clock. By the carrier.
 */
void fib_counters_delay(struct fib_counters *counters, int64_t ns);

/*
 * Let FIB_LOOK_EVERY fibers run before the next look outside. By the carrier, in its idle context.
 */
void fib_counters_give(struct fib_carrier *c);

/* Look outside when the next fiber leaves. By the carrier. */
void fib_counters_last(struct fib_carrier *c);

/* Whether c should look outside before FIB_LOOK_EVERY fibers have left. now: the coarse clock. */
bool fib_counters_late(const struct fib_carrier *c, int64_t now);

/* Read c's counts. By one thread at a time; c goes on running. */
void fib_counters_read(struct fib_carrier *c, struct fib_counts *ret);

#endif
