/* SPDX-License-Identifier: MIT */
/* recorder.h - the flight recorder of a scheduler: a ring of events for each carrier, and one for everybody else. */
#ifndef FIB_SCHED_RECORDER_H
#define FIB_SCHED_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "sched/event_ring.h"

struct fib_carrier;
struct fib_sched;

/* Events a ring may hold: a power of two. */
#define FIB_RECORDER_LEAST 256u
#define FIB_RECORDER_MOST  (1u << 22)

struct fib_recorder {
	struct fib_recorder
		*older;	 /* the service thread's: smaller ones, that carriers may still write to */
	size_t size;	 /* I: bytes mapped */
	unsigned events; /* I: of a ring */
	unsigned rings;	 /* I: one more than there are carriers */
	size_t kept;	 /* the service thread's: bytes of events that may be in memory */
	bool ticks;	 /* I: its times are fib_arch_ticks(), else ns */
	_Atomic uint32_t lock; /* of the last ring */
	struct fib_event_ring ring[];
};

/*
 * Record from now on, with rings of `events` events; each carrier begins when it next looks at the outside. 0, -ENOMEM,
 * -EBUSY when it does so already. Then stop: what the carriers note until they hear of it nobody needs. By the service thread.
 */
int fib_recorder_start(struct fib_sched *s, unsigned events);
void fib_recorder_stop(struct fib_sched *s);

/* Give some of the memory of those that record no more back to the system. True when there is more. By the service thread. */
bool fib_recorder_trim(struct fib_sched *s);

/* The one that records, or NULL. By the service thread. */
struct fib_recorder *fib_recorder_of(struct fib_sched *s);

/* When it is, in the recorder's ticks. */
uint64_t fib_recorder_time(const struct fib_recorder *r);

/* s goes: nobody writes any more. */
void fib_recorder_release(struct fib_sched *s);

/* Carrier c hears whether it is to record. In its idle context. */
void fib_recorder_apply(struct fib_carrier *c);

/* -- what happens; by carrier c, which records -- */

/* It leaves `left`, whose record says why, for next; either may be NULL. */
void fib_recorder_ran(struct fib_carrier *c, const struct fiber *left, const struct fiber *next);
/* It goes on with next after a fiber that has ended. */
void fib_recorder_ran_after_end(struct fib_carrier *c, const struct fiber *next);
void fib_recorder_ended(struct fib_carrier *c, const struct fiber *fiber);
void fib_recorder_stole(struct fib_carrier *c, const struct fiber *fiber, unsigned victim);

/* -- by anybody: the calling carrier's ring where it is one of the fiber's scheduler's, else the outside one. Nothing
 * when nobody records. Before others can run the fiber. -- */

void fib_recorder_spawned(struct fib_sched *s, const struct fiber *fiber);
void fib_recorder_woke(struct fib_sched *s, const struct fiber *fiber);
/* The fiber itself. */
void fib_recorder_pinned(const struct fiber *fiber, bool waits);
/* The service thread, which does not wait for the ring: else the event is lost, and counted. */
void fib_recorder_slow(struct fib_sched *s, uint64_t fiber, unsigned carrier, int64_t ns);

#endif
