/* SPDX-License-Identifier: MIT */
/* pinned_data.h - what a scheduler keeps for pinned.h. */
#ifndef FIB_SCHED_PINNED_DATA_H
#define FIB_SCHED_PINNED_DATA_H

#include <stdint.h>

struct fib_pinned_event;

struct fib_pinned {
	_Atomic uint32_t policy;   /* A: enum fiber_pinned_policy */
	_Atomic uint64_t count;	   /* A: pinned waits of every kind */
	_Atomic uint64_t recorded; /* A: those that went to the ring */
	_Atomic uint64_t dropped;  /* A: those of them that are in it no more, or never were */
	struct fib_pinned_event *events; /* I: the ring */
	uint64_t reported;   /* the service thread only: recorded, when it last printed */
	int64_t reported_at; /* the service thread only: ns */
};

#endif
