/* SPDX-License-Identifier: MIT */
/* longrun_ring.h - a ring of the last long runs; see longrun.h for who may call */
#ifndef FIB_WATCH_LONGRUN_RING_H
#define FIB_WATCH_LONGRUN_RING_H

#include "watch/longrun.h"

/* Map the ring, which is the process's and stays mapped. Any thread. Returns 0 or -ENOMEM. */
int fib_longrun_ring_map(void);

/* Add an event, empty except for its number. */
struct fib_longrun_event *fib_longrun_ring_add(void);

/* Event `number`; NULL if it is not in the ring. */
struct fib_longrun_event *fib_longrun_ring_at(uint64_t number);

/* Forget all events. */
void fib_longrun_ring_clear(void);

#endif
