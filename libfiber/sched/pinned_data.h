/* SPDX-License-Identifier: MIT */
/* pinned_data.h - the per-scheduler data of pinned.h */
#ifndef FIB_SCHED_PINNED_DATA_H
#define FIB_SCHED_PINNED_DATA_H

#include <stdint.h>

struct fib_pinned_event;

struct fib_pinned {
	_Atomic uint32_t policy;   /* A: enum fiber_pinned_policy */
	_Atomic uint64_t count;	   /* A: pinned waits of every kind */
	_Atomic uint64_t recorded; /* A: those that were recorded */
	_Atomic uint64_t
		dropped; /* A: recorded ones that never got into the ring or were overwritten */
	struct fib_pinned_event *events; /* I: the ring */
	uint64_t reported; /* the service thread only: value of recorded at its last printed line */
	int64_t reported_at; /* the service thread only: ns */
};

#endif
