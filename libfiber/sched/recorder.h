/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - the flight recorder of a scheduler: a ring of events per carrier, and one for all
 * other threads
 */
#ifndef FIB_SCHED_RECORDER_H
#define FIB_SCHED_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "sched/event_ring.h"

struct fib_carrier;
struct fib_sched;

/* Limits for the events of a ring: a power of two. */
#define FIB_RECORDER_LEAST 256u
#define FIB_RECORDER_MOST  (1u << 22)

struct fib_recorder {
	struct fib_recorder *older; /* the service thread's: created before, also of other sizes */
	size_t size;		    /* I: bytes mapped */
	unsigned events;	    /* I: per ring */
	unsigned rings;		    /* I: number of carriers + 1 */
	size_t kept;		    /* the service thread's: bytes of events that may be resident */
	bool ticks;		    /* I: times are fib_arch_ticks(), else ns */
	_Atomic uint32_t lock;	    /* guards the last ring */
	struct fib_event_ring ring[];
};

/*
 * Start recording with rings of `events` events; each carrier starts when it next looks outside.
 * Returns 0, -ENOMEM, or -EBUSY if a recording is on. After stop, events that carriers still write
 * are not used. By the service thread.
 */
int fib_recorder_start(struct fib_sched *s, unsigned events);
void fib_recorder_stop(struct fib_sched *s);

/*
 * Give some memory of recorders that are off back to the system. Returns true if there may be more.
 * By the service thread.
 */
bool fib_recorder_trim(struct fib_sched *s);

/* The active recorder, or NULL. By the service thread. */
struct fib_recorder *fib_recorder_of(struct fib_sched *s);

/* The time now in the recorder's ticks. */
uint64_t fib_recorder_time(const struct fib_recorder *r);

/* Free all recorders of s; no thread writes any more. */
void fib_recorder_release(struct fib_sched *s);

/* Let carrier c see whether it is to record. In its idle context. */
void fib_recorder_apply(struct fib_carrier *c);

/* -- events; by carrier c, while it records -- */

/* c switches from `left`, whose record says why, to next; either may be NULL. */
void fib_recorder_ran(struct fib_carrier *c, const struct fiber *left, const struct fiber *next);
/* c switches to next (or NULL) from a fiber that has exited. */
void fib_recorder_ran_after_end(struct fib_carrier *c, const struct fiber *next);
void fib_recorder_ended(struct fib_carrier *c, const struct fiber *fiber);
void fib_recorder_stole(struct fib_carrier *c, const struct fiber *fiber, unsigned victim);

/*
 * -- events; by any thread, before others can run the fiber. They go to the calling carrier's ring
 * if it is one of the fiber's scheduler's, else to the shared ring. No effect when nothing is
 * recorded. --
 */

void fib_recorder_spawned(struct fib_sched *s, const struct fiber *fiber);
void fib_recorder_woke(struct fib_sched *s, const struct fiber *fiber);
/* By the fiber itself. */
void fib_recorder_pinned(const struct fiber *fiber, bool waits);
/*
 * By the service thread, which does not wait for the ring: if the ring is locked, the event is
 * counted as lost.
 */
void fib_recorder_slow(struct fib_sched *s, uint64_t fiber, unsigned carrier, int64_t ns);

#endif
