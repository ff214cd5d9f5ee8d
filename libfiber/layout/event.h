/* SPDX-License-Identifier: MIT */
/*
 * event.h - what the flight recorder notes, as it stands in its rings, on the wire and in files
 *
 * One event is four words. Which fiber is meant, what came of it, and when, in ticks of a clock that only has to go on
 * evenly: whoever reads has pairs of ticks and time.
 *
 * A ring is one carrier's, and an event is in the ring of the carrier that did it. So one event tells of a whole switch: who runs from
 * now, and what the one before it in the same ring is in; who that was, the ring's last RUN says.
 */
#ifndef FIB_LAYOUT_EVENT_H
#define FIB_LAYOUT_EVENT_H

#include <stdint.h>

enum fib_event_type {
	FIB_EVENT_NONE,
	/* `fiber` runs from now, 0: nobody. Who ran before is left: state, kind, object and arg are its. */
	FIB_EVENT_RUN,
	/* Made runnable for the first time. object: the function it runs; arg: low half of its maker's id. */
	FIB_EVENT_SPAWN,
	/* Has ended. arg: 0, or the negative errno it failed with. */
	FIB_EVENT_EXIT,
	/* Runnable again. object: who did it, as in a holder field, 0: the carrier itself (its timers, its poller); kind:
	 * what it waited for. */
	FIB_EVENT_WAKE,
	/* Taken from another carrier's line, perhaps with others. arg: whose. */
	FIB_EVENT_STEAL,
	/* It waits from now on without leaving its carrier, being pinned; until UNPINNED. kind, object, arg: as in RUN. */
	FIB_EVENT_PINNED,
	FIB_EVENT_UNPINNED,
	/* It was seen to hold its carrier for long. arg: the carrier; object: ns so far. */
	FIB_EVENT_SLOW,
	/* No time: `time` and `object` are 16 bytes of the fiber's name, arg the first one's place in it. */
	FIB_EVENT_NAME,
	FIB_EVENT_COUNT
};

/* The state of whoever was left, when nobody was. */
#define FIB_EVENT_NOBODY 255u

/* RUN: it ran on another carrier the last time. */
#define FIB_EVENT_MIGRATED 1u
/* RUN, PINNED: the descriptor is to be readable, writable. poll(2)'s bits, one further. */
#define FIB_EVENT_READ	2u
#define FIB_EVENT_WRITE 8u

/* The ring of threads that are no carriers, and of the service thread. */
#define FIB_EVENT_OUTSIDE 0xffffffffu

struct fib_event {
	uint64_t time;	/* ticks */
	uint64_t fiber; /* id */
	uint64_t
		object; /* address of what it waits for; of a join, the id of the fiber it waits for */
	uint8_t type;  /* enum fib_event_type */
	uint8_t kind;  /* enum fib_wait_kind */
	uint8_t state; /* enum fiber_state, or FIB_EVENT_NOBODY */
	uint8_t flags; /* FIB_EVENT_MIGRATED, ... */
	uint32_t arg;  /* the low half of what the wait is about: a descriptor */
};

_Static_assert(sizeof(struct fib_event) == 32, "four words");

#endif
