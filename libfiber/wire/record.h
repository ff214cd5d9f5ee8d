/* SPDX-License-Identifier: MIT */
/* record.h - the control protocol's words about the flight recorder. */
#ifndef FIB_WIRE_RECORD_H
#define FIB_WIRE_RECORD_H

#include <stdint.h>

/* The flight recorder. It stops by itself when nobody has read for FIB_WIRE_RECORD_LEASE: its reader is gone. */
#define FIB_WIRE_RECORD_LEASE INT64_C(10000000000) /* ns, while anything runs */
enum fib_wire_record_what { FIB_WIRE_RECORD_START, FIB_WIRE_RECORD_READ, FIB_WIRE_RECORD_STOP };

struct fib_wire_record {
	uint32_t what;	 /* enum fib_wire_record_what */
	uint32_t events; /* START: that a ring holds, made a power of two */
	uint64_t id;	 /* READ, STOP: of the recording, as START has answered */
};

struct fib_wire_record_is {
	uint64_t id;	   /* counts the recordings of this process, from 1 */
	uint32_t events;   /* that a ring holds */
	uint32_t runtimes; /* that record */
	int64_t now;	   /* ns, CLOCK_MONOTONIC ... */
	uint64_t time;	   /* ... and the events' ticks at that moment */
};

/* Some events of one ring, in their order. One that has nothing new is told of once a READ all the same. */
struct fib_wire_recorded {
	uint64_t runtime; /* its serial */
	uint32_t carrier; /* index, or FIB_EVENT_OUTSIDE */
	uint32_t event_size;
	uint32_t count;
	uint32_t unused;
	uint64_t
		lost; /* events of this ring that were written over before they were read, so far */
};

#endif
