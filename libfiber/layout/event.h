/* SPDX-License-Identifier: MIT */
/*
 * event.h - events of the flight recorder, in the same form in its rings, on the wire and in files
 *
 * An event is four words: the fiber, what happened to it, and the time, in ticks of a clock that
 * only needs a constant rate. Readers get pairs of ticks and time.
 *
 * Each carrier has a ring, and an event is in the ring of the carrier that caused it. So one event
 * describes a whole switch: which fiber runs from now, and the new state of the fiber that ran
 * before in the same ring. That fiber is named by the ring's last RUN.
 */
#ifndef FIB_LAYOUT_EVENT_H
#define FIB_LAYOUT_EVENT_H

#include <stdint.h>

enum fib_event_type {
	FIB_EVENT_NONE,
	/* `fiber` runs from now, 0: none. The fiber that ran before is left: state, kind, object
	 * and arg are its. */
	FIB_EVENT_RUN,
	/* Became runnable for the first time. object: the function it runs; arg: low half of its
	 * creator's id. */
	FIB_EVENT_SPAWN,
	/* Has exited. arg: 0, or the negative errno it failed with. */
	FIB_EVENT_EXIT,
	/* Runnable again. object: the waker, as in a holder field, 0: the carrier itself (its
	 * timers, its poller); kind: what the fiber waited for. */
	FIB_EVENT_WAKE,
	/* Taken from another carrier's run queue, perhaps with others. arg: that carrier. */
	FIB_EVENT_STEAL,
	/* Waits from now on without leaving its carrier, because it is pinned; until UNPINNED.
	 * kind, object, arg: as in RUN. */
	FIB_EVENT_PINNED,
	FIB_EVENT_UNPINNED,
	/* Has held its carrier for long. arg: the carrier; object: ns so far. */
	FIB_EVENT_SLOW,
	/* Without a time: `time` and `object` are 16 bytes of the fiber's name, arg is the index of
	 * the first one. */
	FIB_EVENT_NAME,
	FIB_EVENT_COUNT
};

/* The state when no fiber was left. */
#define FIB_EVENT_NOBODY 255u

/* RUN: the fiber ran on another carrier the last time. */
#define FIB_EVENT_MIGRATED 1u
/* RUN, PINNED: the wait is for the descriptor to become readable, writable. poll(2)'s bits, shifted
 * by one. */
#define FIB_EVENT_READ	2u
#define FIB_EVENT_WRITE 8u

/* The ring of threads that are not carriers, and of the service thread. */
#define FIB_EVENT_OUTSIDE 0xffffffffu

struct fib_event {
	uint64_t time;	 /* ticks */
	uint64_t fiber;	 /* id */
	uint64_t object; /* address of the object it waits for; for a join, the fiber's id */
	uint8_t type;	 /* enum fib_event_type */
	uint8_t kind;	 /* enum fib_wait_kind */
	uint8_t state;	 /* enum fiber_state, or FIB_EVENT_NOBODY */
	uint8_t flags;	 /* FIB_EVENT_MIGRATED, ... */
	uint32_t arg;	 /* low half of the wait's argument: a descriptor */
};

_Static_assert(sizeof(struct fib_event) == 32, "four words");

#endif
