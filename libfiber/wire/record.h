/* SPDX-License-Identifier: MIT */
/* record.h - the control protocol: requests and answers of the flight recorder */
#ifndef FIB_WIRE_RECORD_H
#define FIB_WIRE_RECORD_H

#include <stdint.h>

/* The flight recorder stops by itself when nothing was read for FIB_WIRE_RECORD_LEASE: its reader
 * is gone. */
#define FIB_WIRE_RECORD_LEASE INT64_C(10000000000) /* ns, while a fiber runs */
enum fib_wire_record_what { FIB_WIRE_RECORD_START, FIB_WIRE_RECORD_READ, FIB_WIRE_RECORD_STOP };

struct fib_wire_record {
	uint32_t what;	 /* enum fib_wire_record_what */
	uint32_t events; /* START: capacity of a ring, made a power of two */
	uint64_t id;	 /* READ, STOP: of the recording, from the answer to START */
};

struct fib_wire_record_is {
	uint64_t id;	   /* counts the recordings of this process, from 1 */
	uint32_t events;   /* capacity of a ring */
	uint32_t runtimes; /* number of runtimes that record */
	int64_t now;	   /* ns, CLOCK_MONOTONIC ... */
	uint64_t time;	   /* ... and the events' ticks at that moment */
};

/* Some events of one ring, in order. A ring without new events is reported once a READ too. */
struct fib_wire_recorded {
	uint64_t runtime; /* its serial */
	uint32_t carrier; /* index, or FIB_EVENT_OUTSIDE */
	uint32_t event_size;
	uint32_t count;
	uint32_t unused;
	uint64_t lost; /* events of this ring overwritten before they were read, so far */
};

#endif
